# Defines the files that `cmake --install` installs: the libraries, the public headers, and the files
# for find_package and pkg-config.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

# The component `runtime` contains the libraries. The component `development` contains all files that
# compilers and linkers read.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS weft weft_pretrained EXPORT weft_targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development)
install(EXPORT weft_targets FILE weft-targets.cmake NAMESPACE weft:: DESTINATION ${package_dir})
foreach(header IN LISTS weft_public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder})
endforeach()
foreach(name version weft autograd layers train pretrained)
  install(FILES ${weft_include_dir}/weft/${name}.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
endforeach()

get_target_property(weft_type weft TYPE)
configure_package_config_file(cmake/weft-config.cmake.in weft-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake
              ${PROJECT_BINARY_DIR}/weft-config-version.cmake DESTINATION ${package_dir})

# The libraries that a program must link in addition to a static weft.
set(weft_link_flags "")
set(weft_pretrained_link_flags "")
if(weft_type STREQUAL STATIC_LIBRARY)
  set(libraries ${HDF5_C_LIBRARIES} ${ZLIB_LIBRARIES} ${CSV_LIBRARY} ${UTF8PROC_LIBRARY}
                ${ONIGURUMA_LIBRARY} ${OpenMP_CXX_LIBRARIES})
  if(WEFT_HAS_ONEDNN)
    list(APPEND libraries ${ONEDNN_LIBRARY})
  endif()
  if(WEFT_HAS_MPI)
    list(APPEND libraries ${MPI_C_LIBRARIES})
  endif()
  list(JOIN libraries " " weft_link_flags)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    string(PREPEND weft_link_flags "-Wl,--as-needed ")
  endif()
  set(weft_pretrained_link_flags ${MINIZIP_LIBRARY})
endif()
file(RELATIVE_PATH weft_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/weft.pc.in weft.pc @ONLY)
configure_file(cmake/weft-pretrained.pc.in weft-pretrained.pc @ONLY)
include(cmake/dependencies.cmake)
install(FILES ${PROJECT_BINARY_DIR}/weft.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc ${PROJECT_BINARY_DIR}/weft-pretrained.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
