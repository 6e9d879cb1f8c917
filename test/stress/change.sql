\set id random(100000, 145000)
\set n random(1, 30)
\set x random(0, 500)
BEGIN;
UPDATE stress_2 SET x = :x, big = big + 1, at = stress_at(:x), price = price + 1, ratio = ratio + 0.125 WHERE id BETWEEN :id AND :id + :n;
INSERT INTO stress_1 SELECT nextval('ids'), :x, i, i, i % 2 = 0, stress_at(:x), stress_price(:x), stress_ratio(:x), repeat('g', 20) FROM generate_series(1, :n) i;
COMMIT;
