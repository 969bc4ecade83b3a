import { Prose } from './text';

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
