import type { CallerDeps } from '../auth';
import type { KeyedQueue } from '../turns';

/** What routes need that send commands to workflows. */
export type RouteDeps = CallerDeps & { readonly turns: KeyedQueue };
