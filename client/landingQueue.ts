import type { Landing, LandRequest } from '../configerator/domain/landing';

/**
 * A workflow accepts ten updates at once and refuses more as if the server were overloaded. Two of the ten are reserved
 * for changes that undo something, which never wait.
 */
const AT_ONCE = { usual: 8, ahead: 10 };

type StripRequest = LandRequest & { readonly repository: string };
type AskStrip = (request: StripRequest) => Promise<Landing>;

interface StripLine {
  atWork: number;
  readonly waiting: (LandRequest & { readonly begin: () => void })[];
}

/** Requests landings: sends a few at a time to the workflow of a repository, and keeps the others here in order. */
export class LandingQueue {
  private readonly lines = new Map<string, StripLine>();

  /** @param ask sends one request; its error is passed on and delays no other */
  constructor(private readonly ask: AskStrip) {}

  async land(request: StripRequest): Promise<Landing> {
    const { repository, ahead = false } = request;
    const line = this.lines.get(repository) ?? { atWork: 0, waiting: [] };
    this.lines.set(repository, line);
    if (line.atWork < (ahead ? AT_ONCE.ahead : AT_ONCE.usual)) line.atWork += 1;
    else await this.turn(line, request);
    try {
      return await this.ask(request);
    } finally {
      line.atWork -= 1;
      this.next(line);
    }
  }

  /** The number of waiting changes, by repository. */
  waiting(): ReadonlyMap<string, number> {
    return new Map([...this.lines].map(([repository, { waiting }]) => [repository, waiting.length]));
  }

  /** The number of changes before this one; undefined once it is its turn. */
  before(repository: string, change: number): number | undefined {
    const { atWork = 0, waiting = [] } = this.lines.get(repository) ?? {};
    const at = waiting.findIndex((one) => one.change === change);
    return at < 0 ? undefined : atWork + at;
  }

  private turn({ waiting }: StripLine, { change, ahead = false }: StripRequest): Promise<void> {
    return new Promise((begin) => {
      const at = ahead ? waiting.filter((one) => one.ahead === true).length : waiting.length;
      waiting.splice(at, 0, { change, ahead, begin });
    });
  }

  private next(line: StripLine): void {
    const [first] = line.waiting;
    if (first === undefined || line.atWork >= (first.ahead ? AT_ONCE.ahead : AT_ONCE.usual)) return;
    line.waiting.shift();
    line.atWork += 1;
    first.begin();
  }
}
