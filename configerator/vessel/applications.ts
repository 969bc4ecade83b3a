import { conveyorError } from '../../domain/errors';
import { CONFIG_LIMITS, VESSEL_LIMITS } from '../../domain/limits';
import { cutText } from '../../domain/size';

/** An application's report on a package. */
export type LoadState =
  { readonly state: 'loading' } | { readonly state: 'ready' } | { readonly state: 'refused'; readonly reason: string };

export type LoadReport = LoadState & { readonly path: string; readonly version: string; readonly app: string };

/** The reports of a host's applications on one version of a package. */
export class Applications {
  private readonly all = new Map<string, LoadState>();

  /** Returns whether that is news. @throws ConveyorError `over-limit` */
  take(app: string, loaded: LoadState): boolean {
    const { of, max } = VESSEL_LIMITS.apps;
    const before = this.all.get(app);
    if (before === undefined && this.all.size >= max)
      throw conveyorError('over-limit', { what: of, size: String(max + 1), limit: String(max) });
    const now = loaded.state === 'refused' ? { ...loaded, reason: cutText(loaded.reason, MOST_REASON) } : loaded;
    this.all.set(app, now);
    return JSON.stringify(before) !== JSON.stringify(now);
  }

  get isReady(): boolean {
    return this.all.size > 0 && [...this.all.values()].every(({ state }) => state === 'ready');
  }

  /** For the acknowledgement of the host. `wasReady`: before the proxy restarted, applications that have not reported again used this version. */
  acknowledgement(wasReady: boolean): { readonly loading?: string; readonly refused?: string } {
    const refused = [...this.all].flatMap(([app, it]) => (it.state === 'refused' ? [`${app}: ${it.reason}`] : []));
    if (refused.length > 0) return { refused: refused.join('; ') };
    if (this.all.size === 0) return wasReady ? {} : { loading: 'no application has loaded it yet' };
    const loading = [...this.all].flatMap(([app, { state }]) => (state === 'loading' ? [app] : []));
    return loading.length > 0 ? { loading: `${loading.join(', ')} loads it` } : {};
  }

  get view(): Readonly<Record<string, LoadState>> {
    return Object.fromEntries(this.all);
  }
}

const MOST_REASON = CONFIG_LIMITS.refusal.max;
