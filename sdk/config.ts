import { Following } from './configFollowing';
import type { ConfigSchema, ConfigValue, WatchConfigOptions, WatchedConfig } from './configValue';

export type { ConfigSchema, ConfigTrouble, ConfigValue, WatchConfigOptions, WatchedConfig } from './configValue';

/**
 * Follows a configuration: `onChange` is called with the first good value, with each that differs from it, and with one that comes back. It comes from the proxy of
 * this host; while that does not answer, from its cache on disk; and what the application has it keeps, whatever else is dead. Nothing
 * here throws or rejects because a server is missing: `onTrouble` is called.
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
  const watched = new Following(path, schema, onChange, options);
  void watched.run();
  return {
    current: () => watched.current,
    task: () => watched.task(),
    age: () => watched.age(),
    first: watched.first,
    close: () => watched.close(),
  };
}
