\set tab random(1, 2)
\set which random(1, 7)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT stress_read(:tab, :which, true);
\set which random(1, 7)
SELECT stress_read(:tab, :which, true);
COMMIT;
