-- The 13 questions about sales, in four flights: 1 the saving of a discount, 2 revenue by brand and year, 3 revenue by place
-- and year, 4 profit.  Format: hits_queries.sql.

-- 1.1 a year
SELECT sum(s.price::bigint * s.discount) FROM sale s JOIN calendar d ON d.id = s.day WHERE d.year = 2016 AND s.discount BETWEEN 1 AND 3 AND s.quantity < 25;

-- 1.2 a month
SELECT sum(s.price::bigint * s.discount) FROM sale s JOIN calendar d ON d.id = s.day
WHERE d.month_number = 201701 AND s.discount BETWEEN 4 AND 6 AND s.quantity BETWEEN 26 AND 35;

-- 1.3 a week
SELECT sum(s.price::bigint * s.discount) FROM sale s JOIN calendar d ON d.id = s.day
WHERE d.week = 6 AND d.year = 2017 AND s.discount BETWEEN 5 AND 7 AND s.quantity BETWEEN 26 AND 35;

-- 2.1 a category
SELECT sum(s.revenue), d.year, p.brand FROM sale s JOIN calendar d ON d.id = s.day JOIN part p ON p.id = s.part JOIN supplier v ON v.id = s.supplier
WHERE p.category = 'M12' AND v.region = 'EAST' GROUP BY d.year, p.brand ORDER BY d.year, p.brand;

-- 2.2 a range of brands
SELECT sum(s.revenue), d.year, p.brand FROM sale s JOIN calendar d ON d.id = s.day JOIN part p ON p.id = s.part JOIN supplier v ON v.id = s.supplier
WHERE p.brand BETWEEN 'M22-21' AND 'M22-28' AND v.region = 'SOUTH' GROUP BY d.year, p.brand ORDER BY d.year, p.brand;

-- 2.3 a brand
SELECT sum(s.revenue), d.year, p.brand FROM sale s JOIN calendar d ON d.id = s.day JOIN part p ON p.id = s.part JOIN supplier v ON v.id = s.supplier
WHERE p.brand = 'M22-39' AND v.region = 'NORTH' GROUP BY d.year, p.brand ORDER BY d.year, p.brand;

-- 3.1 nations of a region
SELECT c.nation, v.nation, d.year, sum(s.revenue) AS revenue
FROM sale s JOIN customer c ON c.id = s.customer JOIN supplier v ON v.id = s.supplier JOIN calendar d ON d.id = s.day
WHERE c.region = 'SOUTH' AND v.region = 'SOUTH' AND d.year BETWEEN 2015 AND 2020
GROUP BY c.nation, v.nation, d.year ORDER BY d.year, revenue DESC, c.nation, v.nation;

-- 3.2 cities of a nation
SELECT c.city, v.city, d.year, sum(s.revenue) AS revenue
FROM sale s JOIN customer c ON c.id = s.customer JOIN supplier v ON v.id = s.supplier JOIN calendar d ON d.id = s.day
WHERE c.nation = 'LAND K' AND v.nation = 'LAND K' AND d.year BETWEEN 2015 AND 2020
GROUP BY c.city, v.city, d.year ORDER BY d.year, revenue DESC, c.city, v.city;

-- 3.3 two cities
SELECT c.city, v.city, d.year, sum(s.revenue) AS revenue
FROM sale s JOIN customer c ON c.id = s.customer JOIN supplier v ON v.id = s.supplier JOIN calendar d ON d.id = s.day
WHERE c.city IN ('LAND K city 1', 'LAND K city 5') AND v.city IN ('LAND K city 1', 'LAND K city 5') AND d.year BETWEEN 2015 AND 2020
GROUP BY c.city, v.city, d.year ORDER BY d.year, revenue DESC, c.city, v.city;

-- 3.4 two cities in a month
SELECT c.city, v.city, d.year, sum(s.revenue) AS revenue
FROM sale s JOIN customer c ON c.id = s.customer JOIN supplier v ON v.id = s.supplier JOIN calendar d ON d.id = s.day
WHERE c.city IN ('LAND K city 1', 'LAND K city 5') AND v.city IN ('LAND K city 1', 'LAND K city 5') AND d.month_of_year = 'Dec2019'
GROUP BY c.city, v.city, d.year ORDER BY d.year, revenue DESC, c.city, v.city;

-- 4.1 nations of a region
SELECT d.year, c.nation, sum(s.revenue - s.cost) FROM sale s JOIN calendar d ON d.id = s.day JOIN customer c ON c.id = s.customer
	JOIN supplier v ON v.id = s.supplier JOIN part p ON p.id = s.part
WHERE c.region = 'EAST' AND v.region = 'EAST' AND p.maker IN ('M1', 'M2') GROUP BY d.year, c.nation ORDER BY d.year, c.nation;

-- 4.2 categories of two years
SELECT d.year, v.nation, p.category, sum(s.revenue - s.cost) FROM sale s JOIN calendar d ON d.id = s.day JOIN customer c ON c.id = s.customer
	JOIN supplier v ON v.id = s.supplier JOIN part p ON p.id = s.part
WHERE c.region = 'EAST' AND v.region = 'EAST' AND d.year IN (2020, 2021) AND p.maker IN ('M1', 'M2')
GROUP BY d.year, v.nation, p.category ORDER BY d.year, v.nation, p.category;

-- 4.3 brands of a nation
SELECT d.year, v.city, p.brand, sum(s.revenue - s.cost) FROM sale s JOIN calendar d ON d.id = s.day JOIN customer c ON c.id = s.customer
	JOIN supplier v ON v.id = s.supplier JOIN part p ON p.id = s.part
WHERE c.region = 'EAST' AND v.nation = 'LAND C' AND d.year IN (2020, 2021) AND p.category = 'M14'
GROUP BY d.year, v.city, p.brand ORDER BY d.year, v.city, p.brand;
