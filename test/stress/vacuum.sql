\set which random(1, 4)
\if :which = 1
VACUUM stress_1;
\elif :which = 2
VACUUM stress_2;
\elif :which = 3
VACUUM (FREEZE) stress_1;
\else
VACUUM (FREEZE, TRUNCATE) stress_2;
\endif
