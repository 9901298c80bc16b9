#!/bin/sh
# Prints the profiles as a C++ source, so that the program needs no file at a place of its own:
# embed.sh NAME.yaml...
set -eu
echo '#include "policy/profile.h"'
echo 'namespace pa::policy {'
echo 'namespace {'
echo 'constexpr ProfileText kShipped[] = {'
for file in "$@"; do
  printf '{"%s", R"yaml(' "$(basename "$file" .yaml)"
  cat "$file"
  echo ')yaml"},'
done
echo '};'
echo '}'
echo 'std::span<const ProfileText> ShippedProfiles() { return kShipped; }'
echo '}'
