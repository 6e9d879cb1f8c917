\set tab random(1, 2)
\set which random(1, 6)
SELECT stress_alter(:tab, :which);
