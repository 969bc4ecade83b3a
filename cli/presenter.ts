import { allOnOneLine, onOneLine } from '../domain/plainText';
import type { DeployStatus, ReleaseStatus } from '../domain/views';
import type { Io } from './io';
import { liveRegion } from './live';
import { emit, jsonText, printNote, type Output } from './output';
import { renderDeploy } from './render/deploy';
import { logLines, type WatchSnapshot } from './render/log';
import type { View } from './render/paint';
import { renderRelease } from './render/release';
import { wholeSeconds } from './render/words';
import { asTyped } from './typed';

/** How the looks are shown, by format and terminal. */
export interface Presenter {
  readonly redraws: boolean;
  look(seen: WatchSnapshot): void;
  contact(works: boolean, detail?: string): void;
  /** Before something else is printed. */
  leave(): void;
  end(seen: WatchSnapshot): void;
}

export function presenter(io: Io, output: Output): Presenter {
  if (output.human && io.stdout.isTTY) return picture(io, output);
  if (output.human)
    return appended(io, (before, after) => logLines(before && allOnOneLine(before), allOnOneLine(after)));
  if (output.format === 'jsonl') return appended(io, changedJson);
  return quiet(io, output);
}

function picture(io: Io, output: Output): Presenter {
  const region = liveRegion(io.stdout);
  let seenAt = io.now();
  let lost: string | null = null;
  const warning = (): string =>
    lost === null ? '' : `⚠ no contact for ${wholeSeconds(io.now() - seenAt)}: ${onOneLine(lost)}; trying again\n`;
  return {
    redraws: true,
    look: (found) => {
      const seen = allOnOneLine(found);
      const full = renderWatched(seen, output.view());
      const fits = full.split('\n').length < io.stdout.rows - 1;
      const text = fits ? full : renderWatched(seen, { ...output.view(), compact: true });
      region.draw(`${warning()}${asTyped(text, io.env)}`);
    },
    contact: (works, detail) => {
      if (works) seenAt = io.now();
      lost = works ? null : (detail ?? '');
      if (!works) region.draw(warning().trimEnd());
    },
    leave: () => region.end(),
    end: () => region.end(),
  };
}

function appended(io: Io, linesOf: (before: WatchSnapshot | null, after: WatchSnapshot) => string[]): Presenter {
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

/** Says when contact is lost and when it is back. */
function contactNotes(io: Io): Presenter['contact'] {
  let works = true;
  return (now, detail) => {
    if (works !== now) printNote(io, now ? 'in contact again' : `no contact: ${detail ?? ''}; trying again`);
    works = now;
  };
}

function changedJson(before: WatchSnapshot | null, after: WatchSnapshot): string[] {
  const text = jsonText(subjectOf(after));
  return before !== null && jsonText(subjectOf(before)) === text ? [] : [text];
}

/** Formats that hold one value: the last look, whatever it is. */
function quiet(io: Io, output: Output): Presenter {
  return {
    redraws: false,
    look: () => undefined,
    contact: contactNotes(io),
    leave: () => undefined,
    end: (seen) => {
      const subject = subjectOf(seen);
      emit(io, output, subject, { text: () => '', name: subject ? [subject.id] : [] });
    },
  };
}

export function renderWatched({ release, deploys, waits }: WatchSnapshot, view: View): string {
  if (release !== null) return renderRelease(release, deploys, view, waits);
  return deploys.map((deploy) => renderDeploy(deploy, view)).join('\n\n');
}

/** What is shown of a watched thing: the release, else the deploy. */
export const subjectOf = ({ release, deploys }: WatchSnapshot): ReleaseStatus | DeployStatus | undefined =>
  release ?? deploys[0];
