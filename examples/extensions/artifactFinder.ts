import { serveArtifactFinder } from '../../sdk';

/** An artifact finder: `source: { finder: wasm-modules, with: { module: filter } }` finds what was uploaded last. */
const uploads: { readonly module: string; readonly version: string }[] = [];

/** The number of the upload, which is where the finder has come to. */
export const upload = (module: string, version: string): number => uploads.push({ module, version });

export const wasmModules = serveArtifactFinder('wasm-modules', {
  getArtifacts: ({ subscriptions, cursor = '0' }) => {
    const known = Number(cursor) <= uploads.length ? Number(cursor) : 0; // of another world: from the beginning
    const found = subscriptions.flatMap(({ pipeline, artifact, with: { module } }) => {
      const newest = uploads.slice(known).findLast((uploaded) => uploaded.module === module);
      if (newest === undefined) return [];
      return [{ pipeline, artifact: { name: artifact, kind: 'package', version: newest.version } }];
    });
    const refused = subscriptions
      .filter(({ with: wanted }) => typeof wanted['module'] !== 'string')
      .map(({ pipeline, artifact, with: wanted }) => {
        const message = `wasm-modules takes with: { module }, and was given { ${Object.keys(wanted).join(', ')} }`;
        return { pipeline, artifact, message };
      });
    return { found, cursor: String(uploads.length), refused };
  },
});
