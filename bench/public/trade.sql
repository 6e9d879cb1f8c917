-- A wholesaler's orders, in the shape of TPC-H's eight tables and their keys.  psql sets rows: of item, some four for each
-- order; rows / 6000000 is the benchmark's scale.

CREATE SCHEMA trade;
SET search_path = trade, public;

SELECT :rows::int8 / 4 AS orders, (:rows::int8 / 120) * 3 AS customers, greatest(:rows::int8 / 30, 100) AS parts, greatest(:rows::int8 / 600, 40) AS suppliers \gset

-- word: one of 96.  note: of some words.  cents: an amount up to that many cents.
CREATE FUNCTION word(n int8) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN (ARRAY['amber', 'brisk', 'cedar', 'dusty', 'early', 'forest', 'green', 'hazel', 'ivory', 'jade', 'khaki', 'linen'])[1 + n % 12] ||
		(ARRAY['', 'like', 'ness', 'ed', 'er', 's', 'y', 'ing'])[1 + n / 12 % 8];
CREATE FUNCTION note(i int8, salt int8, words int) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN (SELECT string_agg(word(h(i * 8 + k, salt)), ' ') FROM generate_series(1, words) k);
CREATE FUNCTION cents(i int8, salt int8, most int8) RETURNS numeric LANGUAGE sql IMMUTABLE
	RETURN (h(i, salt) % most / 100.0)::numeric(15,2);
CREATE FUNCTION phone(i int8, nation int8) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN format('%s-%s-%s-%s', 10 + nation, 100 + h(i, 1) % 900, 100 + h(i, 2) % 900, 1000 + h(i, 3) % 9000);

CREATE TABLE region AS
SELECT i::int4 AS id, (ARRAY['NORTH', 'SOUTH', 'EAST', 'WEST', 'ISLES'])[1 + i]::char(25) AS name, note(i, 10, 5) AS note FROM generate_series(0, 4) i;
CREATE TABLE nation AS
SELECT i::int4 AS id, ('LAND ' || chr(65 + i))::char(25) AS name, i % 5 AS region, note(i, 11, 5) AS note FROM generate_series(0, 24) i;
CREATE TABLE supplier AS
SELECT i::int4 AS id, ('Supplier ' || lpad(i::text, 9, '0'))::char(25) AS name, note(i, 12, 3)::varchar(40) AS address, (h(i, 13) % 25)::int4 AS nation,
	phone(i, h(i, 13) % 25)::char(15) AS phone, cents(i, 14, 1100000) - 1000 AS balance,
	(note(i, 15, 5) || CASE WHEN h(i, 16) % 200 = 0 THEN ' angry letters' ELSE '' END)::varchar(101) AS note
FROM generate_series(1, :suppliers) i;
CREATE TABLE part AS
SELECT i::int4 AS id, note(i, 20, 5)::varchar(55) AS name, ('Maker ' || 1 + h(i, 21) % 5)::char(25) AS maker,
	format('Brand %s%s', 1 + h(i, 21) % 5, 1 + h(i, 22) % 5)::char(10) AS brand,
	((ARRAY['BASIC', 'HEAVY', 'LIGHT', 'OFFER', 'PLAIN', 'SMALL'])[1 + h(i, 23) % 6] || ' ' || (ARRAY['BENT', 'COATED', 'DRAWN', 'RAW', 'WORN'])[1 + h(i, 24) % 5] ||
		' ' || (ARRAY['ALLOY', 'BRONZE', 'IRON', 'LEAD', 'ZINC'])[1 + h(i, 25) % 5])::varchar(25) AS kind, (1 + h(i, 26) % 50)::int4 AS size,
	((ARRAY['BIG', 'FLAT', 'LONG', 'MINI', 'TALL'])[1 + h(i, 27) % 5] || ' ' || (ARRAY['BAG', 'BOX', 'CAN', 'CASE', 'DRUM', 'JAR', 'PACK', 'TUBE'])[1 + h(i, 28) % 8])::char(10) AS container,
	200 + cents(i, 29, 180000) AS price, note(i, 30, 2)::varchar(23) AS note
FROM generate_series(1, :parts) i;
-- The k-th supplier of a part.
CREATE FUNCTION supplier_of(part int8, k int8, suppliers int8) RETURNS int4 LANGUAGE sql IMMUTABLE
	RETURN 1 + (h(part, 40) + k * (suppliers / 4)) % suppliers;
CREATE TABLE offer AS
SELECT i::int4 AS part, supplier_of(i, k, :suppliers) AS supplier, (1 + h(i * 4 + k, 41) % 9999)::int4 AS available, 1 + cents(i * 4 + k, 42, 100000) AS cost,
	note(i * 4 + k, 43, 18)::varchar(199) AS note
FROM generate_series(1, :parts) i, generate_series(0, 3) k;
CREATE TABLE customer AS
SELECT i::int4 AS id, ('Customer ' || lpad(i::text, 9, '0'))::varchar(25) AS name, note(i, 50, 3)::varchar(40) AS address, (h(i, 51) % 25)::int4 AS nation,
	phone(i, h(i, 51) % 25)::char(15) AS phone, cents(i, 52, 1100000) - 1000 AS balance,
	(ARRAY['BUILDER', 'FARMER', 'HOTEL', 'SCHOOL', 'WORKSHOP'])[1 + h(i, 53) % 5]::char(10) AS segment, note(i, 54, 10)::varchar(117) AS note
FROM generate_series(1, :customers) i;
-- A third of the customers has no orders.
CREATE TABLE orders AS
SELECT i::int4 AS id, (1 + 3 * (h(i, 60) % (:customers / 3)) + h(i, 61) % 2)::int4 AS customer,
	CASE WHEN day < date '2018-02-15' THEN 'F' WHEN day > date '2018-06-17' THEN 'O' ELSE 'P' END::char(1) AS status, cents(i, 62, 50000000) AS total, day,
	(ARRAY['1 NOW', '2 SOON', '3 NORMAL', '4 UNSAID', '5 LATE'])[1 + h(i, 63) % 5]::char(15) AS priority,
	('Clerk ' || lpad((h(i, 64) % (1 + :orders / 1500))::text, 9, '0'))::char(15) AS clerk, 0 AS ship_priority,
	(note(i, 65, 7) || CASE WHEN h(i, 66) % 90 = 0 THEN ' please no calls' ELSE '' END)::varchar(79) AS note
FROM (SELECT i, date '2015-01-01' + (h(i, 67) % 2406)::int AS day FROM generate_series(1, :orders) i OFFSET 0) o;
CREATE TABLE item AS
SELECT order_id, part, supplier_of(part, h(i, 70) % 4, :suppliers) AS supplier, line, quantity::numeric(15,2) AS quantity,
	(quantity * (200 + cents(part, 29, 180000)))::numeric(15,2) AS price, (h(i, 71) % 11 / 100.0)::numeric(15,2) AS discount,
	(h(i, 72) % 9 / 100.0)::numeric(15,2) AS tax,
	CASE WHEN received > date '2018-06-17' THEN 'N' WHEN h(i, 73) % 2 = 0 THEN 'R' ELSE 'A' END::char(1) AS returned,
	CASE WHEN shipped > date '2018-06-17' THEN 'O' ELSE 'F' END::char(1) AS status, shipped, committed, received,
	(ARRAY['COLLECT', 'DELIVER', 'NONE', 'RETURN'])[1 + h(i, 74) % 4]::char(25) AS instruction,
	(ARRAY['AIR', 'BIKE', 'MAIL', 'POST', 'RAIL', 'SHIP', 'TRUCK'])[1 + h(i, 75) % 7]::char(10) AS mode, note(i, 76, 4)::varchar(44) AS note
FROM (SELECT *, shipped + 1 + (h(i, 77) % 30)::int AS received
	FROM (SELECT id AS order_id, k AS line, id * 8::int8 + k AS i, (1 + h(id * 8::int8 + k, 78) % :parts)::int4 AS part, 1 + h(id * 8::int8 + k, 79) % 50 AS quantity,
			day + 1 + (h(id * 8::int8 + k, 80) % 121)::int AS shipped, day + 30 + (h(id * 8::int8 + k, 81) % 61)::int AS committed
		FROM orders, generate_series(1, 1 + (h(id, 82) % 7)::int) k OFFSET 0) r OFFSET 0) r;

ALTER TABLE region ADD PRIMARY KEY (id);
ALTER TABLE nation ADD PRIMARY KEY (id), ADD FOREIGN KEY (region) REFERENCES region;
ALTER TABLE supplier ADD PRIMARY KEY (id), ADD FOREIGN KEY (nation) REFERENCES nation;
ALTER TABLE part ADD PRIMARY KEY (id);
ALTER TABLE offer ADD PRIMARY KEY (part, supplier), ADD FOREIGN KEY (part) REFERENCES part, ADD FOREIGN KEY (supplier) REFERENCES supplier;
ALTER TABLE customer ADD PRIMARY KEY (id), ADD FOREIGN KEY (nation) REFERENCES nation;
ALTER TABLE orders ADD PRIMARY KEY (id), ADD FOREIGN KEY (customer) REFERENCES customer;
ALTER TABLE item ADD PRIMARY KEY (order_id, line), ADD FOREIGN KEY (order_id) REFERENCES orders, ADD FOREIGN KEY (part, supplier) REFERENCES offer;
CREATE INDEX ON item (part, supplier);
