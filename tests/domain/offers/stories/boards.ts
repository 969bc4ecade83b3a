import {
  isBoardEmpty,
  NO_OFFERS,
  reopenBoard,
  type OfferBoard,
  type OfferRefusal,
} from '../../../../domain/offers/board';

/** Who changed a board, for the invariants: `make p0/3/d0`. */
export type Cause = string;

type Change = (board: OfferBoard) => OfferBoard;
type Watch = (name: string, before: OfferBoard, after: OfferBoard, cause: Cause) => void;

/** The workflow `offers/<pipeline>` (workflows/offers.ts) and its last state. */
export class BoardHost {
  /** Null if it never ran. */
  board: OfferBoard | null = null;
  isRunning = false;
  /** It does not answer before this moment of the story. */
  silentUntil = 0;

  constructor(
    readonly name: string,
    private readonly watch: Watch,
  ) {}

  /** To a running workflow. */
  send(cause: Cause, change: Change): void {
    const before = this.board ?? NO_OFFERS;
    this.board = change(before);
    if (isBoardEmpty(this.board)) this.isRunning = false;
    this.watch(this.name, before, this.board, cause);
  }

  /** Starts it with the state that an activity has read, unless it runs. */
  start(read: OfferBoard | null): void {
    if (this.isRunning) return;
    const before = this.board ?? NO_OFFERS;
    this.board = reopenBoard(read ?? NO_OFFERS);
    this.isRunning = true;
    this.watch(this.name, before, this.board, 'restart');
  }

  signalWithStart(read: OfferBoard | null, cause: Cause, change: Change): void {
    this.start(read);
    this.send(cause, change);
  }

  /** An update with its validator; `gone` if the workflow has ended. */
  update(
    cause: Cause,
    refuse: (board: OfferBoard) => OfferRefusal | undefined,
    change: Change,
  ): OfferRefusal | 'gone' | null {
    if (!this.isRunning) return 'gone';
    const refusal = refuse(this.board ?? NO_OFFERS);
    if (refusal !== undefined) return refusal;
    this.send(cause, change);
    return null;
  }

  terminate(): void {
    this.isRunning = false;
  }
}
