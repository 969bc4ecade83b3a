import { beginRemoval, endRemoval } from './decide';
import type { InstallerOptions } from './installer';
import { runPackageCommand } from './packageCommand';
import { AGENT_PACKAGE, getPackage, setPackage } from './state';
import { RefusalError } from './trouble';

export type RemoverOptions = Pick<InstallerOptions, 'home' | 'env' | 'log' | 'onStep'>;

/** Takes packages away. A crash between two steps is followed by the rest of them, also without the server. */
export class Remover {
  constructor(private readonly options: RemoverOptions) {}

  /** @throws RefusalError if its `stop` fails, or the error of the disk: the next call tries again */
  async remove(name: string): Promise<void> {
    const { home, log, onStep } = this.options;
    if (name === AGENT_PACKAGE)
      throw new RefusalError('an agent does not remove itself: remove its service from the machine');
    onStep(name, 'begin-removal');
    home.save(setPackage(home.state, name, beginRemoval(getPackage(home.state, name))));
    onStep(name, 'stop');
    await this.stop(name);
    onStep(name, 'unlink');
    home.unlink(name);
    onStep(name, 'delete');
    home.delete(name);
    onStep(name, 'record-removal');
    home.note(setPackage(home.state, name, endRemoval(getPackage(home.state, name))));
    log(`${name}: removed`);
  }

  /** Runs only while `current` is there: later its folder may be incomplete. */
  private async stop(name: string): Promise<void> {
    const { home } = this.options;
    const current = home.current(name);
    const { runs, releases } = getPackage(home.state, name);
    const release = [runs, ...releases].find((one) => one?.folder === current);
    if (release === undefined) return;
    const end = await runPackageCommand(this.options, { name, release, argv: release.install?.stop });
    if (!end.isGood) throw new RefusalError(`stop: ${end.why}`);
  }
}
