-- Sales and four dimensions, in the shape of the star-schema benchmark's tables.  psql sets rows: of sale; rows / 6000000 is
-- the benchmark's scale.

CREATE SCHEMA star;
SET search_path = star, public;

SELECT greatest(:rows::int8 / 200, 3000) AS customers, greatest(:rows::int8 / 3000, 1000) AS suppliers, greatest(:rows::int8 / 30, 1000) AS parts \gset

CREATE FUNCTION nation(n int8) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'LAND ' || chr(65 + n::int);
CREATE FUNCTION region(n int8) RETURNS text LANGUAGE sql IMMUTABLE RETURN (ARRAY['NORTH', 'SOUTH', 'EAST', 'WEST', 'ISLES'])[1 + n % 5];

CREATE TABLE calendar AS
SELECT to_char(d, 'YYYYMMDD')::int4 AS id, d AS day, to_char(d, 'FMMonth') AS month, extract(year FROM d)::int4 AS year,
	to_char(d, 'YYYYMM')::int4 AS month_number, to_char(d, 'MonYYYY') AS month_of_year, extract(week FROM d)::int4 AS week, to_char(d, 'FMDay') AS weekday
FROM (SELECT date '2015-01-01' + i AS d FROM generate_series(0, 2556) i) c;
CREATE TABLE customer AS
SELECT i::int4 AS id, 'Customer ' || lpad(i::text, 9, '0') AS name, 'Street ' || h(i, 10) % 100000 AS address, nation(n) || ' city ' || h(i, 11) % 10 AS city,
	nation(n) AS nation, region(n) AS region, (ARRAY['BUILDER', 'FARMER', 'HOTEL', 'SCHOOL', 'WORKSHOP'])[1 + h(i, 12) % 5] AS segment
FROM (SELECT i, h(i, 13) % 25 AS n FROM generate_series(1, :customers) i OFFSET 0) c;
CREATE TABLE supplier AS
SELECT i::int4 AS id, 'Supplier ' || lpad(i::text, 9, '0') AS name, 'Street ' || h(i, 20) % 100000 AS address, nation(n) || ' city ' || h(i, 21) % 10 AS city,
	nation(n) AS nation, region(n) AS region
FROM (SELECT i, h(i, 22) % 25 AS n FROM generate_series(1, :suppliers) i OFFSET 0) s;
CREATE TABLE part AS
SELECT i::int4 AS id, 'Part ' || h(i, 30) % 5000 AS name, 'M' || m AS maker, format('M%s%s', m, c) AS category, format('M%s%s-%s', m, c, lpad(b::text, 2, '0')) AS brand,
	'colour ' || h(i, 31) % 92 AS colour, (1 + h(i, 32) % 50)::int4 AS size, 'box ' || h(i, 33) % 40 AS container
FROM (SELECT i, 1 + h(i, 34) % 5 AS m, 1 + h(i, 35) % 5 AS c, 1 + h(i, 36) % 40 AS b FROM generate_series(1, :parts) i OFFSET 0) p;
CREATE TABLE sale AS
SELECT (i / 4)::int4 AS order_id, (i % 4)::int4 AS line, (1 + h(i / 4, 40) % :customers)::int4 AS customer, (1 + h(i, 41) % :parts)::int4 AS part,
	(1 + h(i, 42) % :suppliers)::int4 AS supplier, to_char(date '2015-01-01' + (h(i / 4, 43) % 2406)::int, 'YYYYMMDD')::int4 AS day,
	(ARRAY['1 NOW', '2 SOON', '3 NORMAL', '4 UNSAID', '5 LATE'])[1 + h(i / 4, 44) % 5] AS priority, '0' AS ship_priority, quantity,
	quantity * amount AS price, quantity * amount * 4 AS total, discount, quantity * amount * (100 - discount) / 100 AS revenue, amount * 6 / 10 AS cost,
	(h(i, 45) % 9)::int4 AS tax, to_char(date '2015-01-01' + (h(i / 4, 43) % 2406 + h(i, 46) % 60)::int, 'YYYYMMDD')::int4 AS committed,
	(ARRAY['AIR', 'BIKE', 'MAIL', 'POST', 'RAIL', 'SHIP', 'TRUCK'])[1 + h(i, 47) % 7] AS mode
FROM (SELECT i, (1 + h(i, 48) % 50)::int4 AS quantity, (20000 + h(1 + h(i, 41) % :parts, 49) % 180000)::int4 AS amount, (h(i, 50) % 11)::int4 AS discount
	FROM generate_series(1, :rows::int8) i OFFSET 0) s;

ALTER TABLE calendar ADD PRIMARY KEY (id);
ALTER TABLE customer ADD PRIMARY KEY (id);
ALTER TABLE supplier ADD PRIMARY KEY (id);
ALTER TABLE part ADD PRIMARY KEY (id);
ALTER TABLE sale ADD PRIMARY KEY (order_id, line), ADD FOREIGN KEY (customer) REFERENCES customer, ADD FOREIGN KEY (part) REFERENCES part,
	ADD FOREIGN KEY (supplier) REFERENCES supplier, ADD FOREIGN KEY (day) REFERENCES calendar;
