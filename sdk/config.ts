import { ConfigFollower } from './configFollower';
import type { ConfigSchema, ConfigValue, WatchConfigOptions, WatchedConfig } from './configValue';

export type { ConfigSchema, ConfigTrouble, ConfigValue, WatchConfigOptions, WatchedConfig } from './configValue';

/**
 * Follows a configuration: `onChange` is called with the first good value, with every different one, and with one
 * that comes back. Values come from the proxy of this host, or from its cache on disk while the proxy does not
 * answer; the application always keeps its last value. Nothing here throws or rejects because a server is missing:
 * it calls `onTrouble`.
 *
 *     const limits = watchConfig('shop/limits', z.object({ perUser: z.number() }), ({ value }) => apply(value));
 *     await limits.first;
 */
export function watchConfig<T>(
  path: string,
  schema: ConfigSchema<T>,
  onChange: (value: ConfigValue<T>) => void,
  options: WatchConfigOptions = {},
): WatchedConfig<T> {
  const watched = new ConfigFollower(path, schema, onChange, options);
  void watched.run();
  return {
    current: () => watched.current,
    task: () => watched.task(),
    age: () => watched.age(),
    first: watched.first,
    close: () => watched.close(),
  };
}
