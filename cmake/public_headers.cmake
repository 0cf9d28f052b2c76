# Lays out the public headers as they are installed: <weft/autograd/tape.hpp> is autograd/tape.hpp,
# and <weft/autograd.hpp> includes all of a folder. Everything but the folders below is public.
set(weft_internal_folders "/internal/|^autograd/kernels/|^train/files/")
set(weft_include_dir ${PROJECT_BINARY_DIR}/include)

file(GLOB_RECURSE weft_public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     autograd/*.hpp layers/*.hpp train/*.hpp)
list(FILTER weft_public_headers EXCLUDE REGEX "${weft_internal_folders}")
file(GLOB_RECURSE linked RELATIVE ${weft_include_dir}/weft ${weft_include_dir}/weft/*/*.hpp)
foreach(header IN LISTS linked)
  if(NOT header IN_LIST weft_public_headers)
    file(REMOVE ${weft_include_dir}/weft/${header})
  endif()
endforeach()
foreach(header IN LISTS weft_public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  file(MAKE_DIRECTORY ${weft_include_dir}/weft/${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${header} ${weft_include_dir}/weft/${header} SYMBOLIC)
endforeach()

# Writes <weft/NAME.hpp>, which includes the headers in the rest of the arguments.
function(weft_umbrella_header name about)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include <weft/\\1>")
  list(JOIN ARGN "\n" includes)
  file(GENERATE OUTPUT ${weft_include_dir}/weft/${name}.hpp
       CONTENT "// ${about}\n#pragma once\n\n${includes}\n")
endfunction()
set(below version.hpp)
foreach(room autograd layers train)
  set(headers ${weft_public_headers})
  list(FILTER headers INCLUDE REGEX "^${room}/")
  weft_umbrella_header(${room} "Everything in ${room}/ and below it." ${below} ${headers})
  set(below ${room}.hpp)
endforeach()
weft_umbrella_header(weft "Everything in weft." train.hpp)
configure_file(cmake/version.hpp.in ${weft_include_dir}/weft/version.hpp @ONLY)
