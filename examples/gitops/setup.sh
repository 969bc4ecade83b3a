#!/bin/sh
# Makes a bare repository of manifests with three clusters in a new folder, and the settings for it: setup.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir "$1"
folder=$(cd "$1" && pwd)
git init --quiet --bare --initial-branch=main "$folder/deployments.git"
git init --quiet --initial-branch=main "$folder/work"
for cluster in staging eu us; do
  mkdir -p "$folder/work/clusters/$cluster/shop"
  cat > "$folder/work/clusters/$cluster/shop/kustomization.yaml" <<EOT
# The shop in $cluster. Conveyor sets newTag; everything else is yours.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../../base/shop]
images:
  - name: registry.example.com/shop
    newTag: '1.3' # set by Conveyor
EOT
done
git -C "$folder/work" add .
git -C "$folder/work" -c user.name=Example -c user.email=example@example.com commit --quiet --message 'Add the shop'
git -C "$folder/work" push --quiet "$folder/deployments.git" main
rm -r "$folder/work"
cp "$here/agent.sh" "$folder/agent.sh"
sed "s|FOLDER|$folder|g" "$here/settings.yaml" > "$folder/settings.yaml"
echo "$folder/settings.yaml"
