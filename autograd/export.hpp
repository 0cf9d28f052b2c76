// WEFT_API exports a symbol from a shared library of weft.
#pragma once

#define WEFT_API [[gnu::visibility("default")]]
