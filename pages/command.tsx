import { formatCommandLine } from '../domain/commandOffers';
import { HOUR_MS } from '../domain/milliseconds';
import { escapeUnsafe } from '../domain/plainText';
import { formatTime, formatDuration } from '../domain/text';
import { INPUTS, inputRow, isStartVerb, verbRow, type InputName } from '../domain/verbs';
import { describeCommand } from '../render/commandWords';
import { forPeople } from '../render/times';
import { getCommandPath, getPagePath, toVersionField, type Frame } from './frame';
import type { CommandModel } from './models';
import { NamedInputs } from './parts/buttons';
import { Layout, toDocument } from './parts/layout';
import { Command, IdLink, Prose } from './parts/text';

/** A command before it is given: its effect in numbers, its inputs and its reason; after a refusal also the refusal. */
export function renderCommandPage(model: CommandModel, frame: Frame): string {
  const { effect, consequences, refusal } = model;
  const command = forPeople(model.command, frame.view);
  const title = `${describeCommand(command)}: ${command.target}`;
  return toDocument(
    <Layout frame={frame} title={title} heading={<bdi>{title}</bdi>} above={<IdLink id={command.target} />} isFailure>
      {refusal === null ? null : <CommandRefusal refusal={forPeople(refusal, frame.view)} />}
      {effect === null ? null : (
        <ul id="effects" class="effects">
          {consequences.map((sentence) => (
            <li>
              <Prose text={forPeople(sentence, frame.view)} />
            </li>
          ))}
          <li>
            <Prose text={forPeople(effect, frame.view)} />
          </li>
        </ul>
      )}
      {effect === null ? null : <ConfirmForm model={model} frame={frame} />}
      <section id="terminal" aria-label="The same in a terminal">
        <p>
          The same in a terminal: <Command text={formatCommandLine(command)} />
        </p>
      </section>
    </Layout>,
  );
}

function CommandRefusal({ refusal: { message, hint } }: { readonly refusal: NonNullable<CommandModel['refusal']> }) {
  return (
    <div id="refusal" class="refusal" role="alert">
      <p>
        <b>✖ Refused.</b> <Prose text={message} />
      </p>
      <p>
        <Prose text={hint} />
      </p>
    </div>
  );
}

interface FormProps {
  readonly model: CommandModel;
  readonly frame: Frame;
}

function ConfirmForm({ model, frame }: FormProps) {
  const { command, given, seen } = model;
  const named: readonly string[] = ['approve', 'artifact', 'user', 'phase', 'action'];
  const { verb } = command;
  const inputs = isStartVerb(verb) ? [] : verbRow(verb).inputs.filter((name) => !named.includes(name));
  return (
    <form id="confirm" class="confirm" method="post" action={getCommandPath(command)}>
      <input type="hidden" name="csrf" value={frame.csrf ?? ''} />
      <input type="hidden" name="seen" value={seen} />
      <NamedInputs command={command} />
      <StartInputs model={model} />
      {inputs.map((name) => (
        <InputField name={name} model={model} nowMs={frame.view.now} />
      ))}
      <label>
        <span>Reason (it is recorded)</span>
        <textarea name="reason" required rows={3}>
          {escapeUnsafe(given['reason'] ?? '', '\n')}
        </textarea>
      </label>
      <div class="ways">
        <button type="submit">
          <bdi>{describeCommand(forPeople(command, frame.view))}</bdi>
        </button>
        <a href={getPagePath(command.target)}>Do nothing</a>
      </div>
    </form>
  );
}

/** The versions of a new release, and the key by which a form that is sent twice is known. */
function StartInputs({ model: { start, given } }: Pick<FormProps, 'model'>) {
  if (start === undefined) return null;
  return (
    <>
      <input type="hidden" name="key" value={start.key} />
      {start.inputs.map(({ name, latest }) => (
        <label>
          <span>
            Version of <bdi>{name}</bdi>
            {latest === null ? ' (none is known yet)' : ' (empty: the latest)'}
          </span>
          <input
            name={toVersionField(name)}
            value={escapeUnsafe(given[toVersionField(name)] ?? '')}
            placeholder={escapeUnsafe(latest ?? '')}
            required={latest === null}
          />
        </label>
      ))}
    </>
  );
}

/** The ends that a person may choose without writing a time. */
const ENDS_HOURS = [1, 2, 4, 8, 24, 72];

function InputField({
  name,
  model,
  nowMs,
}: {
  readonly name: InputName;
  readonly model: CommandModel;
  readonly nowMs: number;
}) {
  const { is, help } = inputRow(name);
  const value = model.given[name] ?? '';
  if (is === 'flag')
    return (
      <label class="flag">
        <input type="checkbox" name={name} value="true" checked={value === 'true'} />
        <span>{help}</span>
      </label>
    );
  return (
    <label>
      <span>{help}</span>
      <select name={name}>
        {listChoices(name, model, nowMs).map(([choice, words]) => (
          <option value={choice} selected={choice === value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

function listChoices(name: InputName, { checks }: CommandModel, nowMs: number): readonly (readonly [string, string])[] {
  const row = INPUTS[name].is;
  if (typeof row !== 'string') return row.map((word) => [word, word] as const);
  if (name === 'check') return [['', 'all checks'], ...checks.map((check) => [check, check] as const)];
  return [
    ['', 'until a person ends it'],
    ...ENDS_HOURS.map((hours) => [formatTime(nowMs + hours * HOUR_MS), formatDuration(hours * HOUR_MS)] as const),
  ];
}
