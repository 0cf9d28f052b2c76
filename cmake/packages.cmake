# Settings of the Debian packages that `cmake/package.sh` builds with cpack. The component `runtime`
# becomes libweft0.3, `development` becomes libweft-dev, and `examples` becomes weft-examples.
set(package_runtime libweft${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(package_development libweft-dev)
set(package_examples weft-examples)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "weft developers <weft@weft.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development examples)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})

# Every package contains the licences and the changelog in Debian's format.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(package_files ${PROJECT_BINARY_DIR}/package_files)
file(WRITE ${package_files}/changelog "weft (${PROJECT_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md in the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
add_custom_command(OUTPUT ${package_files}/changelog.gz DEPENDS ${package_files}/changelog
                   COMMAND gzip -9nf --keep ${package_files}/changelog)
add_custom_target(package_files ALL DEPENDS ${package_files}/changelog.gz)
file(READ LICENSE licence)
set(copyright "${licence}\nweft is linked with these libraries:\n\n")
foreach(dependency IN LISTS weft_dependencies)
  string(REGEX REPLACE "^([^|]*)[|]([^|]*)[|]([^|]*)[|](.*)$" "  \\1 (\\2): \\4; /usr/share/doc/\\3/copyright\n"
                       line "${dependency}")
  string(APPEND copyright "${line}")
endforeach()
string(APPEND copyright "
The Apache License, the GPL, the LGPL and the MPL are in /usr/share/common-licenses.
")
file(WRITE ${package_files}/copyright "${copyright}")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package_${component}})
  install(FILES ${package_files}/copyright DESTINATION ${folder} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
  install(FILES ${package_files}/changelog.gz DESTINATION ${folder} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package_${component}})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${package_runtime} (= ${PROJECT_VERSION})")
endforeach()

# The manual pages, written by `cmake --build … --target manual_pages`.
if(WEFT_EXAMPLES)
  get_property(programs DIRECTORY examples PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER programs EXCLUDE REGEX "_parts$|^guide")
  set(pages)
  foreach(program IN LISTS programs)
    set(source ${PROJECT_SOURCE_DIR}/examples/${program}.cpp)
    if(NOT EXISTS ${source})
      set(source ${PROJECT_SOURCE_DIR}/examples/${program}/main.cpp)
    endif()
    string(REPLACE weft- "" name ${program})
    string(REPLACE _ - name weft-${name})
    set(page ${package_files}/${name}.1)
    add_custom_command(
      OUTPUT ${page}.gz DEPENDS ${program} cmake/manual_page.sh
      COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=$<TARGET_FILE_DIR:weft>
              bash ${PROJECT_SOURCE_DIR}/cmake/manual_page.sh $<TARGET_FILE:${program}> ${source} ${name}
              ${PROJECT_VERSION} >${page}
      COMMAND gzip -9nf --keep ${page})
    list(APPEND pages ${page}.gz)
  endforeach()
  add_custom_target(manual_pages DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT examples EXCLUDE_FROM_ALL)
endif()

# Written here, because cpack would write a line for each kind of processor.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(lines)
foreach(library libweft libweft_pretrained)
  string(APPEND lines "${library} ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} "
                      "${package_runtime} (>= ${PROJECT_VERSION})\n")
endforeach()
file(WRITE ${package_files}/shlibs ${lines})
file(WRITE ${package_files}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${package_files}/shlibs ${package_files}/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "The shared libraries, in versions for any processor, for AVX2 and for AVX-512.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers, and the files for CMake's find_package and pkg-config.")

set(CPACK_DEBIAN_EXAMPLES_PACKAGE_SECTION science)
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_SUGGESTS pocketsphinx-en-us)
set(CPACK_COMPONENT_EXAMPLES_DESCRIPTION
    "Programs that train, fine-tune and inspect small transformers.")
include(CPack)
