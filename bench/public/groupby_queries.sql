-- The ten questions.  Format: hits_queries.sql.

-- 1 sum by a text of few values
SELECT city, sum(small) FROM samples GROUP BY city;

-- 2 sum by two texts
SELECT city, shop, sum(small) FROM samples GROUP BY city, shop;

-- 3 sum and mean by a text of many values
SELECT customer, sum(small), avg(amount) FROM samples GROUP BY customer;

-- 4 means by an integer of few values
SELECT line, avg(small), avg(medium), avg(amount) FROM samples GROUP BY line;

-- 5 sums by an integer of many values
SELECT item, sum(small), sum(medium), sum(amount) FROM samples GROUP BY item;

-- 6 median and deviation by two integers
SELECT line, shelf, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), stddev(amount) FROM samples GROUP BY line, shelf;

-- 7 range of two columns by a text of many values
SELECT customer, max(small) - min(medium) AS span FROM samples GROUP BY customer;

-- 8 the two largest of each group
SELECT item, amount FROM (SELECT item, amount, row_number() OVER (PARTITION BY item ORDER BY amount DESC) AS place FROM samples) s WHERE place <= 2;

-- 9 correlation by a text and an integer
SELECT shop, line, power(corr(small, medium), 2) AS r2 FROM samples GROUP BY shop, line;

-- 10 sum and count by six columns
SELECT city, shop, customer, line, shelf, item, sum(amount), count(*) FROM samples GROUP BY city, shop, customer, line, shelf, item;
