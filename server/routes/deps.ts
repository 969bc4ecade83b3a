import type { CallerDeps } from '../auth';
import type { KeyedQueue } from '../turns';

/** Dependencies of routes that send commands to workflows. */
export type RouteDeps = CallerDeps & { readonly turns: KeyedQueue };
