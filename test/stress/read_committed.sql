\set tab random(1, 2)
\set which random(1, 7)
SELECT stress_read(:tab, :which, false);
