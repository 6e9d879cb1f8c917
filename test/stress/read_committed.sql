\set tab random(1, 2)
\set which random(1, 17)
SELECT stress_read(:tab, :which);
