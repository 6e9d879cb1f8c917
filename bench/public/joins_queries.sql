-- Questions about orders by what their shop or product has.  Format: hits_queries.sql.

-- 1 count and sum by a text of 1,000 shops
SELECT s.name, count(*), sum(o.amount) FROM orders o JOIN shop s ON s.id = o.shop GROUP BY s.name;

-- 2 percentile by a text of 1,000 shops
SELECT s.name, percentile_cont(0.9) WITHIN GROUP (ORDER BY o.ms) FROM orders o JOIN shop s ON s.id = o.shop GROUP BY s.name;

-- 3 percentile of a twentieth of the shops
SELECT s.name, percentile_cont(0.9) WITHIN GROUP (ORDER BY o.ms) FROM orders o JOIN shop s ON s.id = o.shop WHERE s.class = 7 GROUP BY s.name;

-- 4 different customers by region in two steps
SELECT r.name, count(DISTINCT o.customer) FROM orders o JOIN shop s ON s.id = o.shop JOIN region r ON r.id = s.region GROUP BY r.name;

-- 5 count and sum by a text of many products
SELECT p.kind, count(*), sum(o.amount) FROM orders o JOIN product p ON p.id = o.product GROUP BY p.kind;

-- 6 percentile by a text of many products
SELECT p.kind, percentile_cont(0.9) WITHIN GROUP (ORDER BY o.ms) FROM orders o JOIN product p ON p.id = o.product GROUP BY p.kind;

-- 7 percentile and different customers in a continent
SELECT r.name, percentile_cont(0.9) WITHIN GROUP (ORDER BY o.ms), count(DISTINCT o.customer)
FROM orders o JOIN shop s ON s.id = o.shop JOIN region r ON r.id = s.region WHERE r.continent = 'EUROPE' GROUP BY r.name;

-- 8 by shop and product at once
SELECT s.class, p.kind, count(*), sum(o.amount), max(o.ms) FROM orders o JOIN shop s ON s.id = o.shop JOIN product p ON p.id = o.product GROUP BY s.class, p.kind;

-- 9 all orders, with a shop or without
SELECT s.class, count(*), avg(o.amount) FROM orders o LEFT JOIN shop s ON s.id = o.shop GROUP BY s.class;

-- 10 orders of some shops, none of which is shown
SELECT o.percent, count(*), sum(o.amount) FROM orders o WHERE o.shop IN (SELECT id FROM shop WHERE class < 4) GROUP BY o.percent;

-- 11 orders of no old shop
SELECT count(*), sum(o.amount) FROM orders o WHERE NOT EXISTS (SELECT 1 FROM shop s WHERE s.id = o.shop AND s.opened < '2015-01-01');

-- 12 a condition on orders that few pass
SELECT s.name, count(*), sum(o.amount) FROM orders o JOIN shop s ON s.id = o.shop WHERE o.percent = 3 GROUP BY s.name;

-- 13 groups of the orders themselves, with a condition on products
SELECT date_trunc('day', o.moment) AS day, count(*), sum(o.amount) FROM orders o JOIN product p ON p.id = o.product WHERE p.size < 20 GROUP BY 1;

-- 14 one product's orders
SELECT count(*), sum(o.amount), max(o.ms) FROM orders o JOIN product p ON p.id = o.product WHERE p.name = 'Product 77';

-- 15 the largest orders with their shop
SELECT o.amount, o.id, s.name FROM orders o LEFT JOIN shop s ON s.id = o.shop ORDER BY o.amount DESC, o.id LIMIT 20;
