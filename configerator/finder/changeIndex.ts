import { CONFIG_LIMITS } from '../../domain/limits';
import { VALUES } from '../compiler/tree';
import { readDeltas } from '../repository/commits';
import type { ConfigRepository } from '../repository/repository';
import { pathOfValue } from '../repository/revalue';
import { TAKES_BACK } from '../repository/rights';

/** The part of a change that a finder needs. */
export interface FoundChange {
  readonly change: number;
  /** `N@<commit>` */
  readonly version: string;
  readonly author: string;
  /** The first line of its message. */
  readonly subject: string;
  /** The paths of the values that it changes. */
  readonly paths: readonly string[];
  readonly isLanded: boolean;
  /** It undoes a deploy, so it lands without a release. */
  readonly takesBack: boolean;
}

/** The changes of one repository, newest first. Each is read once, because changes are immutable. */
export class ChangeIndex {
  private known: readonly Omit<FoundChange, 'isLanded'>[] = [];
  private newest = 0;

  constructor(private readonly repository: ConfigRepository) {}

  /** The present changes, and the number of the newest. */
  async look(): Promise<{ readonly changes: readonly FoundChange[]; readonly newest: number }> {
    const { max } = CONFIG_LIMITS.changesFound;
    const infos = await this.repository.changes(max, { after: this.newest });
    const deltas = await readDeltas(
      this.repository.git,
      infos.map(({ commit }) => commit),
    );
    const added = infos.map(({ change, commit, author, message }) => {
      const values = (deltas.get(commit) ?? []).filter(({ path }) => path.startsWith(`${VALUES}/`));
      const [subject = ''] = message.split('\n');
      return {
        ...{ change, author, subject, version: `${change}@${commit}`, takesBack: author === TAKES_BACK },
        paths: values.map(({ path }) => pathOfValue(path)),
      };
    });
    this.known = [...added, ...this.known.filter(({ change }) => change <= this.newest)].slice(0, max);
    this.newest = Math.max(this.newest, ...infos.map(({ change }) => change));
    const head = await this.repository.head();
    const landed = head === null ? new Map<number, string>() : await this.repository.landedBy(head);
    return { changes: this.known.map((one) => ({ ...one, isLanded: landed.has(one.change) })), newest: this.newest };
  }
}
