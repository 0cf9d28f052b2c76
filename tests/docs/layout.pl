# Changes Doxygen's layout of pages: perl -0pi layout.pl layout.xml
# What a class is comes before its members; a group has no description.
s/(<class>)\s*<briefdescription[^>]*>(.*?)<detaileddescription[^>]*>/$1<detaileddescription title="Description"\/>$2/s;
s/(<group>.*?)<detaileddescription[^>]*>/$1/s;
s/<nestedgroups visible="yes" title=""/<nestedgroups visible="yes" title="Groups"/;
# What the tree of pages has beside README.md and what it links to.
s/<tab type="modules" visible="yes" title="" intro=""/<tab type="modules" visible="yes" title="Reference" intro="What weft declares, by what it is for."/;
s/(<tab type="(?:namespaces|concepts|files|examples)" visible=)"yes"/$1"no"/g;
