-- Orders of rows of some 60 bytes, and what they refer to: 1,000 shops, in 50 regions of 5 continents, and rows / 100 products of 200 kinds.
-- Shops and products have texts, and an order in a thousand has neither.  psql sets rows.

CREATE SCHEMA joins;
SET search_path = joins, public;

CREATE TABLE region AS
SELECT i::int4 AS id, 'Region ' || chr(65 + i % 26) || i AS name, (ARRAY['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'OCEANIA'])[1 + i % 5] AS continent FROM generate_series(1, 50) i;
CREATE TABLE shop AS
SELECT i::int4 AS id, 'Shop ' || h(i, 1) % 400 AS name, (1 + h(i, 2) % 50)::int4 AS region, (h(i, 3) % 20)::int4 AS class, date '2010-01-01' + (h(i, 4) % 4000)::int AS opened
FROM generate_series(1, 1000) i;
CREATE TABLE product AS
SELECT i::int4 AS id, 'Product ' || i AS name, 'Kind ' || h(i, 5) % 200 AS kind, (h(i, 6) % 100)::int4 AS size FROM generate_series(1, greatest(:rows::int8 / 100, 1000)) i;
CREATE TABLE orders AS
SELECT i::int4 AS id, CASE WHEN h(i, 7) % 1000 > 0 THEN (1 + h(i, 8) % 1000)::int4 END AS shop, CASE WHEN h(i, 9) % 1000 > 0 THEN (1 + h(i, 10) % greatest(:rows::int8 / 100, 1000))::int4 END AS product,
	(1 + h(i, 11) % greatest(:rows::int8 / 20, 1000))::int4 AS customer, (10 + 20000 / (1 + h(i, 12) % 4096))::int4 AS ms, (h(i, 13) % 100000)::int4 AS amount, (h(i, 14) % 100)::int2 AS percent,
	timestamp '2026-01-01' + i * interval '3 seconds' AS moment
FROM generate_series(1, :rows::int8) i;

ALTER TABLE region ADD PRIMARY KEY (id);
ALTER TABLE shop ADD PRIMARY KEY (id), ADD FOREIGN KEY (region) REFERENCES region;
ALTER TABLE product ADD PRIMARY KEY (id);
ALTER TABLE orders ADD FOREIGN KEY (shop) REFERENCES shop, ADD FOREIGN KEY (product) REFERENCES product;
