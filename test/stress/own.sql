-- what the transaction has changed itself, and what it has rolled back
\set tab random(1, 2)
\set which random(1, 18)
\set id random(1, 20000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SAVEPOINT s;
DELETE FROM stress_2 WHERE id BETWEEN 120000 + :id AND 120000 + :id + 20;
INSERT INTO stress_1 VALUES (nextval('ids'), 77, :id, 5, NULL, 'infinity', 'NaN', '-0', 'own');
SELECT stress_read(:tab, :which);
ROLLBACK TO s;
SELECT stress_read(:tab, :which);
INSERT INTO stress_1 VALUES (nextval('ids'), 78, :id, 5, NULL, 'infinity', 'NaN', '-0', 'own');
SELECT stress_read(:tab, :which);
COMMIT;
