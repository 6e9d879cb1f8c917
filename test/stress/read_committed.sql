\set tab random(1, 2)
\set which random(1, 18)
SELECT stress_read(:tab, :which);
