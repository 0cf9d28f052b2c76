# The libraries that weft is linked with, as NAME|LICENCE|DEBIAN PACKAGE|USE. The licences are SPDX
# identifiers.
set(weft_dependencies
    "Eigen|MPL-2.0|libeigen3-dev|matrix products, compiled in"
    "nlohmann-json|MIT|nlohmann-json3-dev|JSON, compiled in"
    "xxHash|BSD-2-Clause|libxxhash-dev|fingerprints of data, compiled in"
    "HDF5|BSD-3-Clause|libhdf5-dev|writes HDF5 files"
    "zlib|Zlib|zlib1g-dev|compression"
    "libcsv|LGPL-2.1-or-later|libcsv-dev|CSV files"
    "utf8proc|MIT|libutf8proc-dev|Unicode"
    "Oniguruma|BSD-2-Clause|libonig-dev|regular expressions of tokenizers"
    "minizip|Zlib|libminizip-dev|Keras archives, linked by weft::pretrained only"
    "libgomp|GPL-3.0-or-later WITH GCC-exception-3.1|libgomp1|threads")
if(WEFT_HAS_ONEDNN)
  list(APPEND weft_dependencies "oneDNN|Apache-2.0|libdnnl-dev|matrix products, optional")
endif()
if(WEFT_HAS_MPI)
  list(APPEND weft_dependencies "MPI|BSD-3-Clause|libopenmpi-dev|several processes, optional")
endif()
if(WEFT_EXAMPLES)
  list(APPEND weft_dependencies "cxxopts|MIT|libcxxopts-dev|options of the programs, compiled in")
endif()

# Writes weft.spdx.json: weft and its dependencies in the format of SPDX 2.3. The versions are those of
# the Debian packages, and not stated if dpkg does not know them. The date is SOURCE_DATE_EPOCH's, if set.
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)
set(packages "
    {\"SPDXID\": \"SPDXRef-weft\", \"name\": \"weft\", \"versionInfo\": \"${PROJECT_VERSION}\",
     \"licenseDeclared\": \"MIT\", \"downloadLocation\": \"NOASSERTION\"}")
set(relationships "
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\",
     \"relatedSpdxElement\": \"SPDXRef-weft\"}")
foreach(dependency IN LISTS weft_dependencies)
  string(REPLACE "|" ";" fields "${dependency}")
  list(GET fields 0 name)
  list(GET fields 1 licence)
  list(GET fields 2 package)
  execute_process(COMMAND dpkg-query --showformat=\${Version} --show ${package}
                  OUTPUT_VARIABLE version ERROR_QUIET RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    set(version NOASSERTION)
  endif()
  string(APPEND packages ",
    {\"SPDXID\": \"SPDXRef-${name}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\",
     \"licenseDeclared\": \"${licence}\", \"downloadLocation\": \"NOASSERTION\"}")
  string(APPEND relationships ",
    {\"spdxElementId\": \"SPDXRef-weft\", \"relationshipType\": \"DEPENDS_ON\",
     \"relatedSpdxElement\": \"SPDXRef-${name}\"}")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/weft.spdx.json "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"dataLicense\": \"CC0-1.0\",
  \"name\": \"weft ${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://weft.invalid/spdx/weft-${PROJECT_VERSION}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Organization: weft\"]},
  \"packages\": [${packages}
  ],
  \"relationships\": [${relationships}
  ]
}
")
