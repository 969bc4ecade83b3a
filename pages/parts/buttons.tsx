import { formatCommandLine, type OfferedCommand } from '../../domain/commandOffers';
import { describeCommand } from '../../render/commandWords';
import type { View } from '../../render/paint';
import { forPeople } from '../../render/times';
import { getCommandPath, type Frame } from '../frame';
import type { ButtonsModel } from '../models';
import { Section } from './section';
import { Command, Prose } from './text';

interface ButtonsProps {
  readonly buttons: ButtonsModel | null;
  readonly frame: Frame;
}

/** The commands that the reader may give here; each leads to a page that says in numbers what would happen. */
export function Buttons({ buttons, frame }: ButtonsProps) {
  if (buttons === null) return null;
  const { commands, why } = buttons;
  return (
    <Section id="act" title="Act">
      {frame.csrf === null ? <WaysIn frame={frame} /> : null}
      {commands.length === 0 ? null : (
        <ul class="offers">
          {commands.map((command) => (
            <li id={toOfferId(command)}>
              <CommandChoice command={command} view={frame.view} />
            </li>
          ))}
        </ul>
      )}
      {why === null ? null : (
        <p class="note">
          <Prose text={why} />
        </p>
      )}
    </Section>
  );
}

/** The place of an offer, by which it is found again when the page is brought up to date. */
const toOfferId = ({ verb, target, approve, artifact, user }: OfferedCommand): string =>
  ['offer', verb, target, approve, artifact, user]
    .filter((part) => part !== undefined)
    .join('-')
    .replace(/[^\w-]/g, '-');

/** A reader without a session may read, and types commands elsewhere. */
function WaysIn({ frame: { signsIn, path } }: Pick<ButtonsProps, 'frame'>) {
  return (
    <p class="note">
      {signsIn ? (
        <>
          <a href={`/sign-in?to=${encodeURIComponent(path)}`}>Sign in</a> to give commands here, or type them in a
          terminal.
        </>
      ) : (
        'This server signs no one in: type commands in a terminal.'
      )}
    </p>
  );
}

function CommandChoice({ command, view }: { readonly command: OfferedCommand; readonly view: View }) {
  const shown = forPeople(command, view);
  return (
    <form method="get" action={getCommandPath(command)}>
      <NamedInputs command={command} />
      <button type="submit">
        <bdi>{describeCommand(shown)}</bdi>…
      </button>
      <span class="about">{shown.effect}</span>
      <Command text={formatCommandLine(shown)} />
    </form>
  );
}

/** The inputs that an offer names. */
export function NamedInputs({ command }: { readonly command: Omit<OfferedCommand, 'effect'> }) {
  const { approve, artifact, user, phase } = command;
  const fields = { approve: approve === undefined ? undefined : String(approve), artifact, user, phase };
  return (
    <>
      {Object.entries(fields).map(([name, value]) =>
        value === undefined ? null : <input type="hidden" name={name} value={value} />,
      )}
    </>
  );
}
