#!/bin/sh
# Prints the profiles as a C++ source, so that the program needs no file at a place of its own:
# embed.sh NAME.yaml... Their comments are for people: each start would parse them.
set -eu
echo '#include "policy/profile.h"'
echo 'namespace pa::policy {'
echo 'namespace {'
echo 'constexpr ProfileText kShipped[] = {'
for file in "$@"; do
  printf '{"%s", R"yaml(' "$(basename "$file" .yaml)"
  sed 's/^#.*//' "$file"
  echo ')yaml"},'
done
echo '};'
echo '}'
echo 'std::span<const ProfileText> ShippedProfiles() { return kShipped; }'
echo '}'
