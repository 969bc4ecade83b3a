import { parsePackage } from '../configerator/domain/vessel/package';
import { watchConfig } from './config';
import { ModelLoader } from './modelLoader';
import type { ModelUse, WatchedModel, WatchModelOptions } from './modelTypes';

export type { Model, ModelPiece, ModelTrouble, ModelUse, WatchedModel, WatchModelOptions } from './modelTypes';

/**
 * Follows a model: the configuration names it, its pieces come in order through the proxy of this host, and `merge`
 * overwrites the application's data with each. The application therefore never holds two models. Once everything is
 * merged and matches the published digest, `onReady` is called and the model is live; until then this host is not
 * live on that version. If `check`, `merge` or `onReady` throws, the model is refused and the former one is merged
 * back. While the proxy does not answer, its files on disk are read. A deploy waits for dead or late hosts.
 *
 *     const weights = Buffer.alloc(BYTES);
 *     const feed = watchModel('models/feed', { merge: ({ offset, bytes }) => weights.set(bytes, offset) });
 *     await feed.first;
 */
export function watchModel(path: string, use: ModelUse, options: WatchModelOptions = {}): WatchedModel {
  const loading = new ModelLoader(use, options);
  const { url, cache, app, retryMs, onTrouble, fetch } = options;
  const watched = watchConfig(
    path,
    { parse: (value) => parsePackage(path, value) },
    ({ value, version }) => loading.wants(path, version, value),
    {
      ...(url === undefined ? {} : { url }),
      ...(cache === undefined ? {} : { cache }),
      ...(app === undefined ? {} : { app }),
      ...(retryMs === undefined ? {} : { retryMs }),
      ...(onTrouble === undefined ? {} : { onTrouble }),
      ...(fetch === undefined ? {} : { fetch }),
    },
  );
  return {
    live: () => loading.live,
    first: loading.first,
    close: () => {
      watched.close();
      loading.close(path);
    },
  };
}
