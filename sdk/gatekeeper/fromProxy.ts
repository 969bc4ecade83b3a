import { watchConfig } from '../config';
import type { WatchConfigOptions } from '../configValue';
import type { GatekeeperOptions } from './gatekeeper';

/**
 * Projects from the configuration proxy of this host: `createGatekeeper({ subscribe: gatesFromProxy() })`. A value that is not a project is refused
 * at the proxy, so no deploy counts this host as live on it; a deleted value closes its gate.
 */
export const gatesFromProxy =
  (options: WatchConfigOptions = {}): GatekeeperOptions['subscribe'] =>
  (path, onValue) => {
    const watched = watchConfig<unknown>(
      path,
      { parse: (value) => value },
      ({ value }) => {
        const why = onValue(value);
        if (why !== undefined) throw new Error(why);
      },
      {
        ...options,
        onTrouble: (trouble) => {
          if (trouble.kind === 'removed') onValue(undefined);
          options.onTrouble?.(trouble);
        },
      },
    );
    return () => watched.close();
  };
