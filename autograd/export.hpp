// WEFT_API exports a symbol from weft's shared libraries.
#pragma once

#define WEFT_API [[gnu::visibility("default")]]
