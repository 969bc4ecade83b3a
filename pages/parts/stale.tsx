import type { View } from '../../render/paint';
import type { KeptState } from '../models';
import { ClockTime, Prose, TimeAgo } from './text';

/** Old information, marked as such, with the reason. */
export function StaleNote({ problem }: { readonly problem: string | null }) {
  return problem === null ? null : (
    <div class="stale" role="status">
      <p>
        <b>⚠ Last known state.</b> No worker answers, so this is what Temporal stored last; parts are missing.
      </p>
      <p>
        <Prose text={problem} />
      </p>
    </div>
  );
}

/** Since when the information of a page is old, and why if it could not be read again. */
export function KeptNote({ kept, view }: { readonly kept: KeptState | null; readonly view: View }) {
  if (kept === null) return null;
  const since = (
    <>
      This page is as of <ClockTime iso={kept.at} view={view} />, <TimeAgo iso={kept.at} view={view} />
    </>
  );
  if (kept.problem === null) return <p class="note">{since}. It is being read again: reload it for the newest.</p>;
  return (
    <div class="stale" role="status">
      <p>
        <b>⚠</b> {since}. It is tried again.
      </p>
      <p>
        <Prose text={kept.problem} />
      </p>
    </div>
  );
}
