-- Ten million measurements, in the shape of the database-like groupby benchmark's table: groups of 100 and of rows / 100
-- values, each as text and as integer.  psql sets rows.

CREATE SCHEMA groupby;
SET search_path = groupby, public;

CREATE TABLE samples AS
SELECT 'id' || lpad((1 + h(i, 1) % 100)::text, 3, '0') AS city, 'id' || lpad((1 + h(i, 2) % 100)::text, 3, '0') AS shop,
	'id' || lpad((1 + h(i, 3) % (:rows / 100))::text, 10, '0') AS customer, (1 + h(i, 4) % 100)::int4 AS line, (1 + h(i, 5) % 100)::int4 AS shelf,
	(1 + h(i, 6) % (:rows / 100))::int4 AS item, (1 + h(i, 7) % 5)::int4 AS small, (1 + h(i, 8) % 15)::int4 AS medium,
	(h(i, 9) % 100000000 / 1000000.0)::float8 AS amount
FROM generate_series(1, :rows::int8) i;
