import { onOneLine } from '../../domain/plainText';

/** The store for restraints `laser`: a key-value store that answers from memory. `get` throws while the store is gone. */
export interface LaserStore {
  /** The value for `<project>-<user>`; undefined if there is none under the key. */
  get(key: string): number | undefined;
}

/** Reads the store of restraints `laser`; logs once that it is gone, and once that it is back. */
export class LaserReader {
  private isGone = false;

  constructor(
    private readonly store: LaserStore | undefined,
    private readonly counts: { laserFailed: number },
    private readonly log: (message: string) => void,
  ) {}

  /** Null while the store is gone. Never throws. */
  read(key: string): number | undefined | null {
    try {
      if (!this.store) throw new Error('none is configured');
      const value: unknown = this.store.get(key);
      if (value !== undefined && typeof value !== 'number')
        throw new Error('it answered something that is not a number');
      if (this.isGone) this.log('the laser store is back');
      this.isGone = false;
      return value;
    } catch (error) {
      this.counts.laserFailed += 1;
      const why = error instanceof Error ? error.message : String(error);
      if (!this.isGone)
        this.log(onOneLine(`the laser store is gone, gates that need it are closed until it is back: ${why}`));
      this.isGone = true;
      return null;
    }
  }
}
