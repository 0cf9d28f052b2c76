// WEFT_API exports a symbol from weft's shared libraries. With clang, the first declaration of a
// class template needs it, too.
#pragma once

#define WEFT_API [[gnu::visibility("default")]]
