# installcheck.mk: make installcheck while the package is built.  Its files are below
# debian/ then, where servers up to 17 create the extension from, but do not list it in
# pg_available_extensions, which the test "extension" reads; debian/tests runs all.

include Makefile
REGRESS := $(filter-out extension,$(REGRESS))
