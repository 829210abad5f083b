# Writes the digest of the device text as a source file: cmake -DDIGEST=<file> -DOUTPUT=<file> -P source_digest.cmake
file(READ ${DIGEST} digest)
string(STRIP "${digest}" digest)
file(WRITE ${OUTPUT} "#include \"source_digest.hpp\"\n\nconst char* const sage::runtime::source_digest = \"${digest}\";\n")
