-- Page views of many sites, in the shape of ClickBench's table: 105 columns of its types, some 500 bytes a row, most texts
-- empty or long.  psql sets rows.  Rows come site by site and visit by visit; few sites, pages, visitors and phrases
-- have most rows.

CREATE SCHEMA hits;
SET search_path = hits, public;

-- zipf: below n, small numbers more often, the more so the larger the exponent.  word: of some five letters.
CREATE FUNCTION zipf(i int8, salt int8, n int8, exponent float8) RETURNS int8 LANGUAGE sql IMMUTABLE
	RETURN floor(n * power((h(i, salt) % 1000000007) / 1000000007.0::float8, exponent))::int8;
CREATE FUNCTION word(n int8) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN translate(to_hex(h(n, 99) % 1048576), '0123456789abcdef', 'оаеинтсрвлкмдпуя');

-- Columns that no query reads: fillers of n columns that are nearly always 0, or spread.
SELECT string_agg(format('(CASE WHEN h(i, %s) %% 50 = 0 THEN h(i, %s) %% 20 ELSE 0 END)::int2 AS few_%s', 200 + c, 220 + c, c), ', ' ORDER BY c) FILTER (WHERE c <= 16) AS few,
	string_agg(format('(h(visit, %s) %% 40)::int2 AS spread_%s', 240 + c, c), ', ' ORDER BY c) FILTER (WHERE c <= 10) AS spread,
	string_agg(format('zipf(i, %s, 20000, 3)::int4 AS timing_%s', 260 + c, c), ', ' ORDER BY c) FILTER (WHERE c <= 6) AS timings,
	string_agg(format('(CASE WHEN h(i, %s) %% 30 = 0 THEN word(h(i, %s) %% 100) ELSE '''' END) AS tag_%s', 280 + c, 300 + c, c), ', ' ORDER BY c) FILTER (WHERE c <= 14) AS tags
FROM generate_series(1, 20) c \gset

CREATE TABLE hits AS
SELECT h(i, 1) AS hit_id, (h(visit, 2) % 10 > 1)::int4::int2 AS java,
	CASE WHEN h(i, 3) % 8 = 0 THEN '' ELSE word(site) || ' ' || word(page) || ' ' || word(page + 1) || repeat(' ' || word(page / 3), (page % 7)::int) ||
		CASE WHEN page % 200 = 7 THEN ' Example' ELSE '' END END AS title,
	1::int2 AS good, viewed, viewed::date AS day, site::int4 AS site, (h(visitor / 2, 4) % 4294967296 - 2147483648)::int4 AS ip,
	zipf(visitor, 5, 5000, 3)::int4 AS region, h(visitor, 6) - 4611686018427387904 AS visitor,
	(h(site, 7) % 3)::int2 AS site_class, (h(visitor, 8) % 60)::int2 AS system, (h(visitor, 9) % 80)::int2 AS browser,
	url, referer, (h(i, 10) % 7 = 0)::int4::int2 AS reloaded, (h(i, 11) % 20)::int2 AS referer_kind, (h(i, 12) % 300)::int4 AS referer_region,
	(h(page, 13) % 20)::int2 AS url_kind, (h(page, 14) % 300)::int4 AS url_region,
	(ARRAY[1024, 1280, 1366, 1440, 1600, 1680, 1920, 320, 0])[1 + h(visitor, 15) % 9]::int2 AS width,
	(ARRAY[768, 800, 900, 1024, 1050, 1080, 480, 0])[1 + h(visitor, 16) % 8]::int2 AS height, 24::int2 AS depth,
	(h(visitor, 17) % 12)::int2 AS plugin_1, (h(visitor, 18) % 9)::int2 AS plugin_2, (h(visitor, 19) % 700)::text AS plugin_3,
	:few, (h(visitor, 20) % 30)::text AS browser_minor, mobile, CASE WHEN mobile > 0 THEN 'Model ' || zipf(visitor, 21, 170, 2) ELSE '' END AS mobile_model,
	'' AS params, (h(visitor, 22) % 3000000)::int4 AS network, source, CASE WHEN phrase <> '' THEN 1 + zipf(i, 23, 30, 4) ELSE 0 END::int2 AS engine,
	phrase, CASE WHEN h(visit, 24) % 160 = 0 THEN 1 + zipf(visit, 25, 40, 2) ELSE 0 END::int2 AS adv, 0::int2 AS artificial,
	(h(visitor, 26) % 2000)::int2 AS window_width, (h(visitor, 27) % 1100)::int2 AS window_height, (h(visitor, 28) % 24 * 60)::int2 AS zone,
	viewed + (h(i, 29) % 7200 - 3600) * interval '1 s' AS client_at, 'utf-8' AS charset, (h(site, 30) % 400)::int4 AS code_version,
	(h(i, 31) % 12 = 0)::int4::int2 AS is_link, (h(i, 32) % 300 = 0)::int4::int2 AS is_download, h(visitor, 33) AS unique_id, '' AS original_url,
	(h(i, 34) % 1000000000)::int4 AS hit_hash, (h(i, 35) % 15 = 0)::int4::int2 AS not_counted, 'ABCDE5'::text AS color,
	viewed + (h(visitor, 36) % 12) * interval '1 h' AS local_at, :spread, (h(visitor, 37) % 4294967296 - 2147483648)::int4 AS remote_ip,
	(h(visitor, 38) % 100000)::int4 AS window_name, -1::int4 AS opener, (ARRAY['ru', 'en', 'de', 'tr'])[1 + zipf(visitor, 39, 4, 3)] AS language,
	:timings, '' AS social, 0::int8 AS price, :tags, h(hashtext(referer), 40) AS referer_hash, h(hashtext(url), 41) AS url_hash, 0::int4 AS click_id
FROM (SELECT *, timestamp '2024-03-01' + (h(visit, 50) % (31 * 86400) + h(i, 51) % 1200) * interval '1 s' AS viewed,
		CASE WHEN h(visitor, 52) % 20 = 0 THEN 1 + h(visitor, 53) % 60 ELSE 0 END::int2 AS mobile, (h(visit, 54) % 12 - 2)::int2 AS source,
		'http://' || (ARRAY['www.', '', 'm.'])[1 + site % 3] || 'site-' || site || '.example.' || (ARRAY['com', 'org', 'net'])[1 + site % 3] || '/' ||
			(ARRAY['catalog', 'news', 'search?q=', 'forum/topic', 'google'])[1 + CASE WHEN h(page, 55) % 700 = 0 THEN 4 ELSE h(page, 56) % 4 END] || '/' || page ||
			CASE WHEN page % 3 = 0 THEN '' ELSE '&session=' || left(md5((page % 90000)::text), 20) || repeat('&x=1', (page % 6)::int) END AS url,
		CASE WHEN h(i, 57) % 5 = 0 THEN '' ELSE 'https://' || (ARRAY['www.', ''])[1 + h(visit, 58) % 2] || (ARRAY['find.example.com', 'portal.example.net',
			'site-' || site || '.example.org'])[1 + least(h(visit, 59) % 4, 2)] || '/' || repeat('path/', (h(visit, 60) % 8)::int) || zipf(visit, 61, :rows / 5, 2) END AS referer,
		CASE WHEN h(i, 62) % 8 = 0 THEN word(phrase_number) || ' ' || word(phrase_number + 5) || repeat(' ' || word(phrase_number / 9), (phrase_number % 4)::int) ELSE '' END AS phrase
	FROM (SELECT i, visit, site, zipf(visit, 70, :rows / 5, 1.5) AS visitor, site * 100000 + zipf(i, 71, 5 + floor(:rows / 120 * power(1.0 + site, -0.75))::int8, 2) AS page,
			zipf(i, 72, :rows / 12, 1.8) AS phrase_number
		FROM (SELECT i, i / 6 AS visit, floor(6000 * power(i::float8 / (:rows + 1), 4))::int8 AS site FROM generate_series(1, :rows::int8) i OFFSET 0) r OFFSET 0) r OFFSET 0) r;

SELECT 'ALTER TABLE hits ' || string_agg(format('ALTER %I SET NOT NULL', attname), ', ') FROM pg_attribute WHERE attrelid = 'hits'::regclass AND attnum > 0 \gexec
