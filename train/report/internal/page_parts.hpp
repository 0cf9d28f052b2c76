// The parts that all pages share. CMake generates page_parts.cpp from the files in page/.
#pragma once

namespace weft {

// The Content-Security-Policy blocks all requests to other servers.
inline constexpr const char* page_beginning =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>weft</title>\n";

extern const char* const page_style;
extern const char* const page_script;

}  // namespace weft
