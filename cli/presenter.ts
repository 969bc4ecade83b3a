import type { ConveyorError } from '../domain/errors';
import { allOnOneLine, onOneLine } from '../domain/plainText';
import type { DeployStatus, ReleaseStatus } from '../domain/views';
import { renderDeploy } from '../render/deploy';
import type { WatchSnapshot } from '../client/snapshot';
import { logLines } from '../render/log';
import { foldAll, type View } from '../render/paint';
import { renderRelease } from '../render/release';
import { forPeople, wholeSeconds } from '../render/times';
import type { Io } from './io';
import { liveRegion } from './live';
import { emit, jsonText, printNote, type Output } from './output';
import { asTyped } from './typedCommand';

/** Why contact was lost. */
export type ContactLoss = Pick<ConveyorError, 'message' | 'hint'>;

/** Shows the snapshots, depending on format and terminal. */
export interface Presenter {
  readonly redraws: boolean;
  look(seen: WatchSnapshot): void;
  /** Null once contact is restored, else the problem and its remedy. */
  contact(lost: ContactLoss | null): void;
  /** Called before anything else is printed. */
  leave(): void;
  end(seen: WatchSnapshot): void;
}

export function createPresenter(io: Io, output: Output): Presenter {
  if (output.human && io.stdout.isTTY) return createPicture(io, output);
  if (output.human)
    return createAppender(io, (before, after) => logLines(before && allOnOneLine(before), allOnOneLine(after)));
  if (output.format === 'jsonl') return createAppender(io, formatChangedJson);
  return createQuietPresenter(io, output);
}

function createPicture(io: Io, output: Output): Presenter {
  const region = liveRegion(io.stdout);
  // A full last column would make some terminals scroll.
  const view = (): View => ({ ...output.view(), width: io.stdout.columns - 1 });
  const draw = (text: string): void => region.draw(foldAll(asTyped(text, io.env).split('\n'), view()).join('\n'));
  let seenAt = io.now();
  let lost: ContactLoss | null = null;
  const warning = (): string =>
    lost === null
      ? ''
      : `⚠ no contact for ${wholeSeconds(io.now() - seenAt)}: ${onOneLine(lost.message)}; trying again\n  ${onOneLine(lost.hint)}\n`;
  return {
    redraws: true,
    look: (found) => {
      const seen = forPeople(found, view());
      const full = renderWatched(seen, view());
      const fits = full.split('\n').length < io.stdout.rows - 1;
      const text = fits ? full : renderWatched(seen, { ...view(), compact: true });
      draw(`${warning()}${text}`);
    },
    contact: (why) => {
      if (why === null) seenAt = io.now();
      lost = why;
      if (why !== null) draw(warning().trimEnd());
    },
    leave: () => region.end(),
    end: () => region.end(),
  };
}

function createAppender(io: Io, linesOf: (before: WatchSnapshot | null, after: WatchSnapshot) => string[]): Presenter {
  let before: WatchSnapshot | null = null;
  return {
    redraws: false,
    look: (seen) => {
      for (const line of linesOf(before, seen)) io.stdout.write(`${line}\n`);
      before = seen;
    },
    contact: contactNotes(io),
    leave: () => undefined,
    end: () => undefined,
  };
}

/** Reports that contact was lost or restored, and again if the reason changes. */
function contactNotes(io: Io): Presenter['contact'] {
  let said: string | null = null;
  return (lost) => {
    const message = lost?.message ?? null;
    if (message === said) return;
    said = message;
    if (lost === null) return printNote(io, 'connected again');
    printNote(io, `no contact: ${lost.message}; trying again`);
    printNote(io, `hint: ${lost.hint}`);
  };
}

function formatChangedJson(before: WatchSnapshot | null, after: WatchSnapshot): string[] {
  const text = jsonText(getSubject(after));
  return before !== null && jsonText(getSubject(before)) === text ? [] : [text];
}

/** For formats with one value: prints only the last snapshot. */
function createQuietPresenter(io: Io, output: Output): Presenter {
  return {
    redraws: false,
    look: () => undefined,
    contact: contactNotes(io),
    leave: () => undefined,
    end: (seen) => {
      const subject = getSubject(seen);
      emit(io, output, subject, { text: () => '', name: subject ? [subject.id] : [] });
    },
  };
}

export function renderWatched({ release, deploys, waits }: WatchSnapshot, view: View): string {
  if (release !== null) return renderRelease(release, deploys, view, waits);
  return deploys.map((deploy) => renderDeploy(deploy, view)).join('\n\n');
}

/** The subject of a watch: the release, else the deploy. */
export const getSubject = ({ release, deploys }: WatchSnapshot): ReleaseStatus | DeployStatus | undefined =>
  release ?? deploys[0];
