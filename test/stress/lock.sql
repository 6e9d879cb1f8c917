\set id random(100000, 145000)
BEGIN;
SELECT count(*) FROM (SELECT FROM stress_1 WHERE id BETWEEN :id AND :id + 20 FOR UPDATE) q;
UPDATE stress_2 SET flag = NOT flag WHERE id = :id;
ROLLBACK;
