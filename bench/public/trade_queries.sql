-- The 22 questions about orders.  Format: hits_queries.sql.

-- 1 totals of what was shipped, by two flags
SELECT returned, status, sum(quantity), sum(price), sum(price * (1 - discount)), sum(price * (1 - discount) * (1 + tax)),
	avg(quantity), avg(price), avg(discount), count(*)
FROM item WHERE shipped <= date '2021-09-02' GROUP BY returned, status ORDER BY returned, status;

-- 2 the cheapest supplier of a region
SELECT s.balance, s.name, n.name, p.id, p.maker, s.address, s.phone, s.note
FROM part p JOIN offer o ON o.part = p.id JOIN supplier s ON s.id = o.supplier JOIN nation n ON n.id = s.nation JOIN region r ON r.id = n.region
WHERE p.size = 15 AND p.kind LIKE '%ZINC' AND r.name = 'EAST' AND o.cost = (
	SELECT min(o2.cost) FROM offer o2 JOIN supplier s2 ON s2.id = o2.supplier JOIN nation n2 ON n2.id = s2.nation JOIN region r2 ON r2.id = n2.region
	WHERE o2.part = p.id AND r2.name = 'EAST')
ORDER BY s.balance DESC, n.name, s.name, p.id LIMIT 100;

-- 3 the largest orders not yet shipped
SELECT o.id, sum(i.price * (1 - i.discount)) AS revenue, o.day, o.ship_priority
FROM customer c JOIN orders o ON o.customer = c.id JOIN item i ON i.order_id = o.id
WHERE c.segment = 'HOTEL' AND o.day < date '2018-03-15' AND i.shipped > date '2018-03-15'
GROUP BY o.id, o.day, o.ship_priority ORDER BY revenue DESC, o.day, o.id LIMIT 10;

-- 4 orders with an item that came late, by priority
SELECT priority, count(*) FROM orders o
WHERE day >= date '2016-07-01' AND day < date '2016-10-01' AND EXISTS (SELECT 1 FROM item i WHERE i.order_id = o.id AND i.committed < i.received)
GROUP BY priority ORDER BY priority;

-- 5 revenue within a region, by nation
SELECT n.name, sum(i.price * (1 - i.discount)) AS revenue
FROM customer c JOIN orders o ON o.customer = c.id JOIN item i ON i.order_id = o.id JOIN supplier s ON s.id = i.supplier AND s.nation = c.nation
	JOIN nation n ON n.id = s.nation JOIN region r ON r.id = n.region
WHERE r.name = 'SOUTH' AND o.day >= date '2017-01-01' AND o.day < date '2018-01-01'
GROUP BY n.name ORDER BY revenue DESC;

-- 6 revenue without a discount
SELECT sum(price * discount) FROM item
WHERE shipped >= date '2017-01-01' AND shipped < date '2018-01-01' AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24;

-- 7 trade between two nations, by year
SELECT supplier_nation, customer_nation, year, sum(volume) FROM (
	SELECT n1.name AS supplier_nation, n2.name AS customer_nation, extract(year FROM i.shipped) AS year, i.price * (1 - i.discount) AS volume
	FROM supplier s JOIN item i ON i.supplier = s.id JOIN orders o ON o.id = i.order_id JOIN customer c ON c.id = o.customer
		JOIN nation n1 ON n1.id = s.nation JOIN nation n2 ON n2.id = c.nation
	WHERE ((n1.name = 'LAND C' AND n2.name = 'LAND H') OR (n1.name = 'LAND H' AND n2.name = 'LAND C'))
		AND i.shipped BETWEEN date '2018-01-01' AND date '2019-12-31') v
GROUP BY supplier_nation, customer_nation, year ORDER BY supplier_nation, customer_nation, year;

-- 8 a nation's share of a market, by year
SELECT year, sum(CASE WHEN nation = 'LAND G' THEN volume ELSE 0 END) / sum(volume) AS share FROM (
	SELECT extract(year FROM o.day) AS year, i.price * (1 - i.discount) AS volume, n2.name AS nation
	FROM part p JOIN item i ON i.part = p.id JOIN supplier s ON s.id = i.supplier JOIN orders o ON o.id = i.order_id JOIN customer c ON c.id = o.customer
		JOIN nation n1 ON n1.id = c.nation JOIN region r ON r.id = n1.region JOIN nation n2 ON n2.id = s.nation
	WHERE r.name = 'SOUTH' AND o.day BETWEEN date '2018-01-01' AND date '2019-12-31' AND p.kind = 'HEAVY COATED IRON') v
GROUP BY year ORDER BY year;

-- 9 profit of parts by nation and year
SELECT nation, year, sum(profit) FROM (
	SELECT n.name AS nation, extract(year FROM o.day) AS year, i.price * (1 - i.discount) - f.cost * i.quantity AS profit
	FROM part p JOIN item i ON i.part = p.id JOIN supplier s ON s.id = i.supplier JOIN offer f ON f.part = i.part AND f.supplier = i.supplier
		JOIN orders o ON o.id = i.order_id JOIN nation n ON n.id = s.nation
	WHERE p.name LIKE '%green%') v
GROUP BY nation, year ORDER BY nation, year DESC;

-- 10 customers who returned items
SELECT c.id, c.name, sum(i.price * (1 - i.discount)) AS revenue, c.balance, n.name, c.address, c.phone, c.note
FROM customer c JOIN orders o ON o.customer = c.id JOIN item i ON i.order_id = o.id JOIN nation n ON n.id = c.nation
WHERE o.day >= date '2016-10-01' AND o.day < date '2017-01-01' AND i.returned = 'R'
GROUP BY c.id, c.name, c.balance, c.phone, n.name, c.address, c.note ORDER BY revenue DESC, c.id LIMIT 20;

-- 11 parts that are a large share of a nation's stock
SELECT f.part, sum(f.cost * f.available) AS worth FROM offer f JOIN supplier s ON s.id = f.supplier JOIN nation n ON n.id = s.nation
WHERE n.name = 'LAND D' GROUP BY f.part
HAVING sum(f.cost * f.available) > (SELECT sum(f.cost * f.available) * 0.001 FROM offer f JOIN supplier s ON s.id = f.supplier JOIN nation n ON n.id = s.nation
	WHERE n.name = 'LAND D')
ORDER BY worth DESC, f.part;

-- 12 late items by mode and priority
SELECT i.mode, sum(CASE WHEN o.priority IN ('1 NOW', '2 SOON') THEN 1 ELSE 0 END) AS high, sum(CASE WHEN o.priority NOT IN ('1 NOW', '2 SOON') THEN 1 ELSE 0 END) AS low
FROM orders o JOIN item i ON i.order_id = o.id
WHERE i.mode IN ('MAIL', 'SHIP') AND i.committed < i.received AND i.shipped < i.committed AND i.received >= date '2017-01-01' AND i.received < date '2018-01-01'
GROUP BY i.mode ORDER BY i.mode;

-- 13 customers by number of orders
SELECT orders, count(*) AS customers FROM (
	SELECT c.id, count(o.id) AS orders FROM customer c LEFT JOIN orders o ON o.customer = c.id AND o.note NOT LIKE '%please%calls%' GROUP BY c.id) c
GROUP BY orders ORDER BY customers DESC, orders DESC;

-- 14 share of a kind of parts
SELECT 100.00 * sum(CASE WHEN p.kind LIKE 'OFFER%' THEN i.price * (1 - i.discount) ELSE 0 END) / sum(i.price * (1 - i.discount)) AS share
FROM item i JOIN part p ON p.id = i.part WHERE i.shipped >= date '2018-09-01' AND i.shipped < date '2018-10-01';

-- 15 the supplier of the most revenue
WITH revenue AS (SELECT supplier, sum(price * (1 - discount)) AS total FROM item WHERE shipped >= date '2019-01-01' AND shipped < date '2019-04-01' GROUP BY supplier)
SELECT s.id, s.name, s.address, s.phone, r.total FROM supplier s JOIN revenue r ON r.supplier = s.id
WHERE r.total = (SELECT max(total) FROM revenue) ORDER BY s.id;

-- 16 suppliers by kinds of parts, but for bad ones
SELECT p.brand, p.kind, p.size, count(DISTINCT f.supplier) AS suppliers FROM offer f JOIN part p ON p.id = f.part
WHERE p.brand <> 'Brand 45' AND p.kind NOT LIKE 'LIGHT WORN%' AND p.size IN (3, 9, 14, 19, 23, 36, 45, 49)
	AND f.supplier NOT IN (SELECT id FROM supplier WHERE note LIKE '%angry%letters%')
GROUP BY p.brand, p.kind, p.size ORDER BY suppliers DESC, p.brand, p.kind, p.size;

-- 17 revenue of small orders
SELECT sum(i.price) / 7.0 AS yearly FROM item i JOIN part p ON p.id = i.part
WHERE p.brand = 'Brand 23' AND p.container = 'BIG BOX' AND i.quantity < (SELECT 0.2 * avg(i2.quantity) FROM item i2 WHERE i2.part = p.id);

-- 18 customers of large orders
SELECT c.name, c.id, o.id, o.day, o.total, sum(i.quantity) FROM customer c JOIN orders o ON o.customer = c.id JOIN item i ON i.order_id = o.id
WHERE o.id IN (SELECT order_id FROM item GROUP BY order_id HAVING sum(quantity) > 280)
GROUP BY c.name, c.id, o.id, o.day, o.total ORDER BY o.total DESC, o.day, o.id LIMIT 100;

-- 19 revenue of any of three conditions
SELECT sum(i.price * (1 - i.discount)) FROM item i JOIN part p ON p.id = i.part
WHERE i.mode IN ('AIR', 'POST') AND i.instruction = 'DELIVER' AND (
	(p.brand = 'Brand 12' AND p.container IN ('MINI CASE', 'MINI BOX', 'MINI PACK') AND i.quantity BETWEEN 1 AND 11 AND p.size BETWEEN 1 AND 5)
	OR (p.brand = 'Brand 23' AND p.container IN ('FLAT BAG', 'FLAT BOX', 'FLAT PACK') AND i.quantity BETWEEN 10 AND 20 AND p.size BETWEEN 1 AND 10)
	OR (p.brand = 'Brand 34' AND p.container IN ('BIG CASE', 'BIG BOX', 'BIG DRUM') AND i.quantity BETWEEN 20 AND 30 AND p.size BETWEEN 1 AND 15));

-- 20 suppliers with much of a kind of parts in stock
SELECT s.name, s.address FROM supplier s JOIN nation n ON n.id = s.nation
WHERE n.name = 'LAND E' AND s.id IN (SELECT f.supplier FROM offer f WHERE f.part IN (SELECT id FROM part WHERE name LIKE 'forest%')
	AND f.available > (SELECT 0.5 * sum(i.quantity) FROM item i
		WHERE i.part = f.part AND i.supplier = f.supplier AND i.shipped >= date '2017-01-01' AND i.shipped < date '2018-01-01'))
ORDER BY s.name;

-- 21 suppliers who alone were late
SELECT s.name, count(*) AS waiting FROM supplier s JOIN item i ON i.supplier = s.id JOIN orders o ON o.id = i.order_id JOIN nation n ON n.id = s.nation
WHERE o.status = 'F' AND i.received > i.committed AND n.name = 'LAND T'
	AND EXISTS (SELECT 1 FROM item i2 WHERE i2.order_id = i.order_id AND i2.supplier <> i.supplier)
	AND NOT EXISTS (SELECT 1 FROM item i3 WHERE i3.order_id = i.order_id AND i3.supplier <> i.supplier AND i3.received > i3.committed)
GROUP BY s.name ORDER BY waiting DESC, s.name LIMIT 100;

-- 22 rich customers without orders, by code of the telephone
SELECT code, count(*), sum(balance) FROM (
	SELECT substring(c.phone FROM 1 FOR 2) AS code, c.balance FROM customer c
	WHERE substring(c.phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')
		AND c.balance > (SELECT avg(balance) FROM customer WHERE balance > 0.00 AND substring(phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17'))
		AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)) c
GROUP BY code ORDER BY code;
