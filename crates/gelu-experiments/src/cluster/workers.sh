# Two signals come to this script. The notice before the time limit (--signal, SIGUSR1) asks for the end
# of the epoch and for a place in the queue again. SIGTERM is an end that was decided elsewhere: somebody
# has cancelled, and it ends; or Slurm takes the node away, and queues the job again by itself.
asked=
interrupted=
finish() { interrupted=yes; kill -USR1 "$process" 2>/dev/null; }
trap '[ -n "$asked" ] || { asked=notice; hurry & }; finish' USR1
trap 'asked=end; finish' TERM
# An epoch that takes longer than the notice is given up, before the time limit ends the job for good.
hurry() { sleep "$patience"; kill -TERM "$process"; sleep 1; kill -TERM "$process"; } 2>/dev/null

code=130
while [ -z "$asked" ]; do
    "${worker[@]}" &
    process=$!
    [ -z "$asked" ] || finish
    # A signal ends `wait`, not the worker.
    while :; do
        interrupted=
        wait "$process"
        code=$?
        [ -n "$interrupted" ] || break
    done
    echo "worker on $(hostname) ended with code $code"
    # Killed or crashed: another goes on where it was. The folder knows when a run is hopeless.
    [ "$code" -gt 128 ] && [ "$code" -ne 130 ] || break
    sleep 1
done
if [ "$asked" = notice ] && [ "$code" -gt 128 ]; then
    echo "runs are wanted: the job is queued again"
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
