# Writes a header with the commit of the sources: cmake -D SOURCE=... -D HEADER=... -P this. An
# unchanged header is not rewritten, so nothing is recompiled.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "// The commit that the sources are of; empty: not known.
inline constexpr const char* kCommit = \"${commit}\";
")
