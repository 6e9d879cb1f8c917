-- The 43 questions about page views.  A query follows a line "-- NUMBER WHAT IT ASKS" and ends at a semicolon.  Where
-- LIMIT would cut between peers, a last key decides.  Without any order the line ends with "(any)": all rows are
-- compared, not the first few.

-- 0 number of rows
SELECT count(*) FROM hits;

-- 1 rows with an advertisement
SELECT count(*) FROM hits WHERE adv <> 0;

-- 2 sums and means of all
SELECT sum(adv), count(*), avg(width) FROM hits;

-- 3 mean of identifiers
SELECT avg(visitor) FROM hits;

-- 4 different visitors
SELECT count(DISTINCT visitor) FROM hits;

-- 5 different phrases
SELECT count(DISTINCT phrase) FROM hits;

-- 6 first and last day
SELECT min(day), max(day) FROM hits;

-- 7 rows by advertisement
SELECT adv, count(*) FROM hits WHERE adv <> 0 GROUP BY adv ORDER BY count(*) DESC, adv;

-- 8 different visitors by region
SELECT region, count(DISTINCT visitor) AS visitors FROM hits GROUP BY region ORDER BY visitors DESC, region LIMIT 10;

-- 9 several aggregates by region
SELECT region, sum(adv), count(*) AS views, avg(width), count(DISTINCT visitor) FROM hits GROUP BY region ORDER BY views DESC, region LIMIT 10;

-- 10 different visitors by a text that is mostly empty
SELECT mobile_model, count(DISTINCT visitor) AS visitors FROM hits WHERE mobile_model <> '' GROUP BY mobile_model ORDER BY visitors DESC, mobile_model LIMIT 10;

-- 11 different visitors by an integer and a text
SELECT mobile, mobile_model, count(DISTINCT visitor) AS visitors FROM hits WHERE mobile_model <> ''
GROUP BY mobile, mobile_model ORDER BY visitors DESC, mobile, mobile_model LIMIT 10;

-- 12 the most frequent phrases
SELECT phrase, count(*) AS views FROM hits WHERE phrase <> '' GROUP BY phrase ORDER BY views DESC, phrase LIMIT 10;

-- 13 the phrases of the most visitors
SELECT phrase, count(DISTINCT visitor) AS visitors FROM hits WHERE phrase <> '' GROUP BY phrase ORDER BY visitors DESC, phrase LIMIT 10;

-- 14 the most frequent phrases of each engine
SELECT engine, phrase, count(*) AS views FROM hits WHERE phrase <> '' GROUP BY engine, phrase ORDER BY views DESC, engine, phrase LIMIT 10;

-- 15 the most frequent visitors
SELECT visitor, count(*) FROM hits GROUP BY visitor ORDER BY count(*) DESC, visitor LIMIT 10;

-- 16 visitors and phrases, the most frequent
SELECT visitor, phrase, count(*) FROM hits GROUP BY visitor, phrase ORDER BY count(*) DESC, visitor, phrase LIMIT 10;

-- 17 visitors and phrases, some (any)
SELECT visitor, phrase, count(*) FROM hits GROUP BY visitor, phrase LIMIT 10;

-- 18 visitors, minutes and phrases
SELECT visitor, extract(minute FROM viewed) AS minute, phrase, count(*) FROM hits
GROUP BY visitor, minute, phrase ORDER BY count(*) DESC, visitor, minute, phrase LIMIT 10;

-- 19 one visitor
SELECT visitor FROM hits WHERE visitor = 1234567890123456789;

-- 20 rows with a pattern
SELECT count(*) FROM hits WHERE url LIKE '%google%';

-- 21 phrases of a pattern
SELECT phrase, min(url), count(*) AS views FROM hits WHERE url LIKE '%google%' AND phrase <> '' GROUP BY phrase ORDER BY views DESC, phrase LIMIT 10;

-- 22 phrases of two patterns
SELECT phrase, min(url), min(title), count(*) AS views, count(DISTINCT visitor) FROM hits
WHERE title LIKE '%Example%' AND url NOT LIKE '%.google.%' AND phrase <> '' GROUP BY phrase ORDER BY views DESC, phrase LIMIT 10;

-- 23 whole rows of a pattern, the first ones
SELECT * FROM hits WHERE url LIKE '%google%' ORDER BY viewed, hit_id LIMIT 10;

-- 24 phrases, the first by time
SELECT phrase FROM hits WHERE phrase <> '' ORDER BY viewed, hit_id LIMIT 10;

-- 25 phrases, the first by themselves
SELECT phrase FROM hits WHERE phrase <> '' ORDER BY phrase LIMIT 10;

-- 26 phrases, the first by time and themselves
SELECT phrase FROM hits WHERE phrase <> '' ORDER BY viewed, phrase LIMIT 10;

-- 27 mean length of a text by site
SELECT site, avg(length(url)) AS mean, count(*) AS views FROM hits WHERE url <> '' GROUP BY site HAVING count(*) > 500 ORDER BY mean DESC, site LIMIT 25;

-- 28 by a regular expression of a text
SELECT regexp_replace(referer, '^[a-z]+://(?:www\.)?([^/]+)/.*$', '\1') AS host, avg(length(referer)) AS mean, count(*) AS views, min(referer)
FROM hits WHERE referer <> '' GROUP BY host HAVING count(*) > 500 ORDER BY mean DESC, host LIMIT 25;

-- 29 ninety sums of one column
SELECT sum(width),
	sum(width + 1), sum(width + 2), sum(width + 3), sum(width + 4), sum(width + 5), sum(width + 6), sum(width + 7), sum(width + 8), sum(width + 9),
	sum(width + 10), sum(width + 11), sum(width + 12), sum(width + 13), sum(width + 14), sum(width + 15), sum(width + 16), sum(width + 17), sum(width + 18),
	sum(width + 19), sum(width + 20), sum(width + 21), sum(width + 22), sum(width + 23), sum(width + 24), sum(width + 25), sum(width + 26), sum(width + 27),
	sum(width + 28), sum(width + 29), sum(width + 30), sum(width + 31), sum(width + 32), sum(width + 33), sum(width + 34), sum(width + 35), sum(width + 36),
	sum(width + 37), sum(width + 38), sum(width + 39), sum(width + 40), sum(width + 41), sum(width + 42), sum(width + 43), sum(width + 44), sum(width + 45),
	sum(width + 46), sum(width + 47), sum(width + 48), sum(width + 49), sum(width + 50), sum(width + 51), sum(width + 52), sum(width + 53), sum(width + 54),
	sum(width + 55), sum(width + 56), sum(width + 57), sum(width + 58), sum(width + 59), sum(width + 60), sum(width + 61), sum(width + 62), sum(width + 63),
	sum(width + 64), sum(width + 65), sum(width + 66), sum(width + 67), sum(width + 68), sum(width + 69), sum(width + 70), sum(width + 71), sum(width + 72),
	sum(width + 73), sum(width + 74), sum(width + 75), sum(width + 76), sum(width + 77), sum(width + 78), sum(width + 79), sum(width + 80), sum(width + 81),
	sum(width + 82), sum(width + 83), sum(width + 84), sum(width + 85), sum(width + 86), sum(width + 87), sum(width + 88), sum(width + 89)
FROM hits;

-- 30 engines and addresses with a phrase
SELECT engine, ip, count(*) AS views, sum(reloaded), avg(width) FROM hits WHERE phrase <> '' GROUP BY engine, ip ORDER BY views DESC, engine, ip LIMIT 10;

-- 31 identifiers of rows with a phrase
SELECT hit_id, ip, count(*) AS views, sum(reloaded), avg(width) FROM hits WHERE phrase <> '' GROUP BY hit_id, ip ORDER BY views DESC, hit_id, ip LIMIT 10;

-- 32 identifiers of all rows
SELECT hit_id, ip, count(*) AS views, sum(reloaded), avg(width) FROM hits GROUP BY hit_id, ip ORDER BY views DESC, hit_id, ip LIMIT 10;

-- 33 the most frequent addresses of pages
SELECT url, count(*) AS views FROM hits GROUP BY url ORDER BY views DESC, url LIMIT 10;

-- 34 the same with a constant
SELECT 1 AS one, url, count(*) AS views FROM hits GROUP BY one, url ORDER BY views DESC, url LIMIT 10;

-- 35 expressions of one group
SELECT ip, ip - 1 AS a, ip - 2 AS b, ip - 3 AS c, count(*) AS views FROM hits GROUP BY ip, a, b, c ORDER BY views DESC, ip LIMIT 10;

-- 36 a month of a site: pages
SELECT url, count(*) AS views FROM hits WHERE site = 1 AND day >= '2024-03-01' AND day <= '2024-03-31' AND not_counted = 0 AND reloaded = 0 AND url <> ''
GROUP BY url ORDER BY views DESC, url LIMIT 10;

-- 37 a month of a site: titles
SELECT title, count(*) AS views FROM hits WHERE site = 1 AND day >= '2024-03-01' AND day <= '2024-03-31' AND not_counted = 0 AND reloaded = 0 AND title <> ''
GROUP BY title ORDER BY views DESC, title LIMIT 10;

-- 38 a month of a site: links
SELECT url, count(*) AS views FROM hits WHERE site = 1 AND day >= '2024-03-01' AND day <= '2024-03-31' AND reloaded = 0 AND is_link <> 0 AND is_download = 0
GROUP BY url ORDER BY views DESC, url LIMIT 10 OFFSET 100;

-- 39 a month of a site: where visitors come from
SELECT source, engine, adv, CASE WHEN engine = 0 AND adv = 0 THEN referer ELSE '' END AS origin, url AS target, count(*) AS views FROM hits
WHERE site = 1 AND day >= '2024-03-01' AND day <= '2024-03-31' AND reloaded = 0
GROUP BY source, engine, adv, origin, target ORDER BY views DESC, source, engine, adv, origin, target LIMIT 10 OFFSET 100;

-- 40 a month of a site: pages by day
SELECT url_hash, day, count(*) AS views FROM hits
WHERE site = 1 AND day >= '2024-03-01' AND day <= '2024-03-31' AND reloaded = 0 AND source IN (-1, 6) AND referer_hash = 5437872226460706307
GROUP BY url_hash, day ORDER BY views DESC, url_hash, day LIMIT 10 OFFSET 10;

-- 41 a month of a site: sizes of windows
SELECT window_width, window_height, count(*) AS views FROM hits
WHERE site = 1 AND day >= '2024-03-01' AND day <= '2024-03-31' AND reloaded = 0 AND not_counted = 0 AND url_hash = 4209019464024960886
GROUP BY window_width, window_height ORDER BY views DESC, window_width, window_height LIMIT 10 OFFSET 10;

-- 42 two days of a site: minutes
SELECT date_trunc('minute', viewed) AS minute, count(*) AS views FROM hits
WHERE site = 1 AND day >= '2024-03-14' AND day <= '2024-03-15' AND reloaded = 0 AND not_counted = 0
GROUP BY minute ORDER BY minute LIMIT 10 OFFSET 100;
