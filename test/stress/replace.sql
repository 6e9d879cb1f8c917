\set id random(100000, 145000)
\set x random(0, 500)
BEGIN;
DELETE FROM stress_2 WHERE id BETWEEN :id AND :id + 5;
SAVEPOINT s;
UPDATE stress_2 SET y = NULL WHERE id BETWEEN :id + 6 AND :id + 9;
ROLLBACK TO s;
INSERT INTO stress_2 SELECT i, :x, i, i, true, NULL, NULL, NULL, repeat('h', 40) FROM generate_series(:id, :id + 5) i;
COMMIT;
