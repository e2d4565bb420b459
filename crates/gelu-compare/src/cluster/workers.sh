# Two signals come to this script. The notice before the time limit (--signal, SIGUSR1) asks for the end
# of the epoch and for a place in the queue again. SIGTERM is an end that was decided elsewhere: somebody
# has cancelled, and it ends; or Slurm takes the node away, and queues the job again by itself.
asked=
process=
urging=
# Asks the worker to end, every second: a signal is lost on a process that is just being started. An epoch
# that takes longer than the notice is given up, before the time limit ends the job for good.
urge() {
    interrupted=yes
    # Else $! would be this, where a worker has just been started.
    [ -n "$process" ] && [ -z "$urging" ] || return
    {
        until [ "$asked" = notice ] && [ "$((patience--))" -le 0 ]; do
            kill -USR1 "$process" && sleep 1 || exit
        done
        kill -TERM "$process" && sleep 1 && kill -TERM "$process"
    } 2>/dev/null &
    urging=$!
}
trap 'asked=${asked:-notice}; urge' USR1
trap 'asked=end; urge' TERM

code=130
while [ -z "$asked" ]; do
    "${worker[@]}" &
    process=$!
    [ -z "$asked" ] || urge
    # A signal ends `wait`, not the worker. 127 is said of one whose end was told before.
    code=127
    while :; do
        interrupted=
        wait "$process"
        ended=$?
        [ "$ended" = 127 ] || code=$ended
        [ -n "$interrupted" ] || break
    done
    process=
    echo "worker on $(hostname) ended with code $code"
    # Killed or crashed: another goes on where it was. The folder knows when a run is hopeless.
    [ "$code" -gt 128 ] && [ "$code" -ne 130 ] || break
    sleep 1
done
[ -z "$urging" ] || kill "$urging" 2>/dev/null
if [ "$asked" = notice ] && [ "$code" -gt 128 ]; then
    echo "runs are wanted: the job is queued again"
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
